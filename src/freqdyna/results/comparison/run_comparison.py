"""The result of a comparison of runs, with its tables and its figure."""

import os
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from freqdyna.results.comparison.figure import comparison_chart
from freqdyna.results.comparison.findings import AveragedPair, ComparedPair, EnvironmentComparison
from freqdyna.results.comparison.table_files import save_table
from freqdyna.results.comparison.tables import as_text
from freqdyna.results.draw_matplotlib import draw
from freqdyna.results.plot import save_figure


@dataclass(frozen=True)
class RunComparison:
    """What `freqdyna.compare` returns; `print` shows its tables."""

    environments: list[EnvironmentComparison]
    averages: list[AveragedPair]
    """Pairs of names that several environments have; empty if there is one environment."""
    notes: list[str]
    """What few seeds can and cannot show, and which runs and seeds are not compared."""

    @property
    def pairs(self) -> list[ComparedPair]:
        """The comparisons in all environments."""
        return [pair for environment in self.environments for pair in environment.pairs]

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Learning curves, performance profiles and differences as a Matplotlib figure.

        Args:
            path: A file to write it to as well: PNG, PDF or SVG, depending on its ending.

        """
        figure = draw(comparison_chart(self.environments))
        if path is not None:
            save_figure(figure, Path(path))
        return figure

    def save_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file: CSV or LaTeX, depending on its ending, .csv or .tex."""
        save_table(self.environments, self.averages, self.notes, Path(path))

    def __str__(self) -> str:
        return as_text(self.environments, self.averages, self.notes)
