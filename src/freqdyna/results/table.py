"""A table of runs on the terminal."""

from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from freqdyna.results.record import Record
from freqdyna.results.statistics import bootstrap_interval


def print_table(runs: list[tuple[Path, Record]], names: list[str] | None = None) -> None:
    """Print the mean return of each run after the warm-up, and at the last evaluation.

    Args:
        runs: Folders and trainings.
        names: Names of the runs; None for algorithm and environment.

    """
    table = Table(
        title="evaluation return, mean over seeds [95% interval]", box=SIMPLE, pad_edge=False
    )
    table.add_column("algorithm and environment", no_wrap=True)
    for title in ("seeds × steps", "after warm-up", "at the end"):
        table.add_column(title, justify="right", no_wrap=True)
    for row, (_, result) in enumerate(runs):
        config = result.config
        complete = result.complete_seeds
        returns = result.returns[complete.kept]
        after = returns[:, result.steps >= config.warmup_steps]
        reasons = f"\n{complete.reasons}" if complete.left_out else ""
        missing = "-" if len(returns) else "all seeds\n" + " or\n".join(complete.left_out)
        table.add_row(
            names[row] if names else f"{config.algorithm}\n{config.env}",
            f"{complete.number} × {result.steps[-1]:,}{reasons}",
            _cell(after.mean(axis=1)) if after.size else missing,
            _cell(returns[:, -1]) if len(returns) else missing,
        )
    console = Console()
    console.print(table)
    for folder in dict.fromkeys(folder for folder, _ in runs):
        console.print(f"results: {folder}", highlight=False, soft_wrap=True)


def _cell(values: np.ndarray) -> str:
    low, high = bootstrap_interval(values)
    return f"{values.mean():.0f}\n[{low:.0f}, {high:.0f}]"
