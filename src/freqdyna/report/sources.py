"""What each folder given to a report is, and what it holds."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from freqdyna.errors import FreqdynaError
from freqdyna.report import own, paper, sensitivity
from freqdyna.report.explorer import explorers
from freqdyna.report.section import Report, Section
from freqdyna.results import run_folder
from freqdyna.results.result import Result, load
from freqdyna.sweeps.results import load_sweep
from freqdyna.sweeps.sweep import FILE


def gather(folders: list[Path], command: str, say: Callable[[str], None]) -> Report:
    """Everything that runs, sweeps and stored experiments of the paper have to show."""
    if not folders:
        raise FreqdynaError("folders is empty; give at least one folder")
    sections: list[Section] = []
    results: list[Result] = []
    sources: list[str] = []
    for folder in folders:
        found = _runs(folder)
        if found:
            sources += [source for source, _ in found]
            results += [result for _, result in found]
            say(f"{folder}: {len(found)} {'training' if len(found) == 1 else 'trainings'}")
            continue
        parts = paper.stored_parts(folder)
        if not parts:
            raise FreqdynaError(
                f"folders has {str(folder)!r}; it must be a run folder, a folder of run folders, "
                "a sweep's folder, or one of freqdyna reproduce (--out) with complete results"
            )
        for section in paper.sections(folder, parts):
            sections.append(section)
            say(f"{folder}: {section.name} analysed ({len(sections)} of {len(parts)})")
    curves = [own.section(results, sources), sensitivity.section(results)] if results else []
    return Report(
        title="Search-control in Dyna" if sections else "Training report",
        command=command,
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, freqdyna {metadata.version('freqdyna')}",
        sections=[*sections, *filter(None, curves)],
        explorers=explorers(results),
    )


def _runs(folder: Path) -> list[tuple[str, Result]]:
    """The trainings of a run folder, of a folder of run folders or of a sweep, with the source."""
    if (folder / run_folder.CONFIG).is_file():
        return [(shown(folder), load(folder))]
    if (folder / FILE).is_file():
        found = load_sweep(str(folder))
        if not found:
            raise FreqdynaError(f"{str(folder)!r} is a sweep of which no unit is finished yet")
        return [(shown(folder), result) for result in found.values()]
    inside = sorted(folder.glob(f"*/{run_folder.CONFIG}")) if folder.is_dir() else []
    return [(shown(path.parent), load(path.parent)) for path in inside]


def shown(folder: Path) -> str:
    """A folder as seen from here: a report that is sent to others names no home."""
    return Path(os.path.relpath(folder)).as_posix() if folder.is_absolute() else folder.as_posix()
