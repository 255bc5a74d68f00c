"""Runs a notebook and stores its outputs: `python docs/tools/run_notebook.py docs/tour.ipynb`."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def executed(path: Path, replace: dict[str, str] | None = None) -> Any:
    """Run the notebook at `path` and return it with its outputs.

    `replace` maps strings in its code to replacements. It runs in an empty folder; an error in a
    cell is raised.
    """
    notebook = nbformat.read(path, as_version=4)
    for old, new in (replace or {}).items():
        cells = [cell for cell in notebook.cells if old in cell.source]
        if not cells:
            raise ValueError(f"{path} has no cell with {old!r}")
        for cell in cells:
            cell.source = cell.source.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=900,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the times of the run
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(executed(Path(name)), name)
