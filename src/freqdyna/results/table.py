"""Runs as a small table on the terminal."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from freqdyna.results.result import Result
from freqdyna.results.statistics import bootstrap_interval


def print_table(runs: list[tuple[Path, Result]]) -> None:
    """Each run's mean return over the evaluations after the warm-up, and at the last one."""
    table = Table(title="evaluation return, mean over seeds [95% interval]")
    for title in ("run", "algorithm", "environment"):
        table.add_column(title, overflow="fold")
    for title in ("seeds", "steps", "after warm-up", "last evaluation"):
        table.add_column(title, justify="right")
    for folder, result in runs:
        config = result.config
        after = result.returns[:, result.steps >= config.warmup_steps]
        table.add_row(
            str(folder),
            config.algorithm,
            config.env,
            str(config.seeds),
            f"{result.steps[-1]:,}",
            _cell(after.mean(axis=1)) if after.size else "-",
            _cell(result.returns[:, -1]),
        )
    Console().print(table)


def _cell(values: np.ndarray) -> str:
    low, high = bootstrap_interval(values)
    return f"{values.mean():.0f} [{low:.0f}, {high:.0f}]"
