"""Reads the locations that are passed to a report."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata

from freqdyna.core.errors import FreqdynaError
from freqdyna.report import comparison, runs, sensitivity
from freqdyna.report.explorer import explorers
from freqdyna.report.section import Report
from freqdyna.results.result import Result
from freqdyna.sweeps.locations import Location, homes, located, shown, trainings


def gather(folders: Sequence[Location], command: str, say: Callable[[str], None]) -> Report:
    """Gather the content of a report from runs and sweeps.

    Args:
        folders: Run folders, folders of run folders, or sweeps; duplicates are ignored.
        command: The command that writes the report.
        say: Called with progress messages.

    """
    if not folders:
        raise FreqdynaError("folders is empty; it must have at least one folder")
    results: list[Result] = []
    sources: list[str] = []
    known: set[Location] = set()
    for folder in dict.fromkeys(map(located, folders)):
        found = homes(folder)
        for home in found:
            if home not in known:
                for source, result in trainings(home):
                    results.append(result)
                    sources.append(source)
        if found:
            known.update(found)
            say(f"{shown(folder)}: {_counted(len(results))} so far")
        else:
            raise FreqdynaError(
                f"folders has {shown(folder)!r}; it must be a run folder, a folder of run folders "
                "or a sweep's folder"
            )
    of_runs = []
    if results:
        of_runs = [
            runs.section(results, sources),
            *runs.metric_sections(results),
            comparison.section(results, sources),
            sensitivity.section(results),
        ]
    return Report(
        title="Training report",
        command=command,
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, freqdyna {metadata.version('freqdyna')}",
        sections=list(filter(None, of_runs)),
        explorers=explorers(results),
    )


def _counted(number: int) -> str:
    return "1 training" if number == 1 else f"{number} trainings"
