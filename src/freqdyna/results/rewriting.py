"""Replacing all files of a run folder at once, for a run that is extended.

The files of one run name it by a digest of its settings, so all of them change together. They are
first written to a folder inside the run folder, which is then renamed; from then on they replace
the old ones, also if the process is killed meanwhile and another one finishes its work.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from freqdyna.core.files import write_atomically
from freqdyna.results.run_folder import CONFIG, METRICS, PARAMETERS, PROVENANCE, REWRITING

_STAGED = f"{REWRITING}.partial"
_PATTERNS = (
    *(CONFIG, PROVENANCE, PARAMETERS, f"{Path(METRICS).stem}.*"),
    *("snapshot-*.npz", "checkpoint-*.npz"),
)
"""The files of a run; others, such as figures, are left alone."""


@contextmanager
def rewritten(folder: Path) -> Iterator[Path]:
    """Replace the files of a run folder, whose lock the caller holds.

    Args:
        folder: The run folder.

    Yields:
        An empty folder for the new files. They replace the old ones at the end; if an error is
        raised before, nothing changes.

    """
    staged = folder / _STAGED
    shutil.rmtree(staged, ignore_errors=True)
    try:
        staged.mkdir()
        yield staged
        os.replace(staged, folder / REWRITING)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    finish_rewriting(folder)


def finish_rewriting(folder: Path) -> None:
    """Finish what a process that was killed began; its lock must be held."""
    shutil.rmtree(folder / _STAGED, ignore_errors=True)
    ready = folder / REWRITING
    if not ready.is_dir() or ready.is_symlink():
        return
    new = {path.name: path for pattern in _PATTERNS for path in ready.glob(pattern)}
    for name, path in new.items():
        with path.open("rb") as file:
            write_atomically(folder / name, partial(shutil.copyfileobj, file))
    for path in [path for pattern in _PATTERNS for path in folder.glob(pattern)]:
        if path.name not in new:
            path.unlink()
    shutil.rmtree(ready)
