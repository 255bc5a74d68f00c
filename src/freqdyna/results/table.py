"""A table of runs on the terminal."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from freqdyna.results.record import Record, return_name
from freqdyna.results.run_styles import record_labels
from freqdyna.results.statistics import interval_of_mean


def print_table(runs: Sequence[tuple[Path, Record]], names: list[str] | None = None) -> None:
    """Print the mean return of each run after the warm-up, and at the last evaluation.

    Args:
        runs: Folders and trainings.
        names: The varied settings of the runs of a sweep; None for algorithm, settings that
            differ, and environment.

    """
    table = Table(
        title=f"{return_name(result for _, result in runs)}, mean over seeds [95% interval]",
        box=SIMPLE,
        pad_edge=False,
    )
    # Long names are folded, so that no interval is truncated on a narrow terminal.
    of_rows = "varied settings" if names else "algorithm and environment"
    table.add_column(of_rows, overflow="fold")
    for title in ("seeds × steps", "after warm-up", "at the end"):
        table.add_column(title, justify="right", no_wrap=True)
    labels = record_labels([result for _, result in runs])
    for row, (_, result) in enumerate(runs):
        complete = result.complete_seeds
        kept, evaluated = complete.kept, result.after_warmup.any()
        reasons = f"\n{complete.reasons}" if complete.left_out else ""
        missing = "-" if kept.any() else "all seeds\n" + " or\n".join(complete.left_out)
        table.add_row(
            Text(names[row] if names else f"{labels[row]}\n{result.env_name}"),
            f"{complete.number} × {result.steps[-1]:,}{reasons}",
            _cell(result.mean_return()[kept]) if kept.any() and evaluated else missing,
            _cell(result.returns[kept, -1]) if kept.any() else missing,
        )
    console = Console()
    console.print(table)
    for folder in dict.fromkeys(folder for folder, _ in runs):
        console.print(f"results: {folder}", highlight=False, soft_wrap=True)


def _cell(values: np.ndarray) -> str:
    mean, interval = f"{values.mean():.0f}", interval_of_mean(values)
    return mean if interval is None else f"{mean}\n[{interval[0]:.0f}, {interval[1]:.0f}]"
