"""The command `freqdyna compare`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class Compare:
    """Compare runs, sweeps and imported curves by statistics over seeds: tables and a figure."""

    runs: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of run folders, and sweeps (folders or addresses such as
    s3://bucket/sweep)."""
    out: Path = Path("comparison.png")
    """The figure to write: PNG, PDF or SVG, depending on its ending."""
    table: tuple[Path, ...] = ()
    """Files to write the table to as well: CSV (.csv) or LaTeX (.tex)."""
    names: tuple[str, ...] = ()
    """Names of all runs, in their order. If unset: their algorithms, and the settings in which they
    differ."""
    measure: Literal["mean", "final"] = "mean"
    """The number of each seed: its mean return after the warm-up, or that in the last tenth of the
    steps."""
    threshold: float | None = None
    """The return for the steps to a threshold. If unset: the middle between the lowest and the
    highest mean return of the runs in an environment."""
    first_step: int | None = None
    """Evaluations before this step count for the steps to a threshold only. If unset: those until
    the end of the longest warm-up."""
    baseline: str | None = None
    """The run that all others are compared with: its name, or its number in the table. If unset:
    all pairs are compared."""

    def run(self) -> None:
        """Run the command."""
        if not self.runs:
            raise FreqdynaError("runs is empty; it must have at least two runs, or a sweep")
        if not self.out.suffix:
            raise FreqdynaError(f"out is {str(self.out)!r}; it must end in .png, .pdf or .svg")
        from freqdyna.results.comparison.table_files import check_table_path
        from freqdyna.sweeps.load import compare

        for path in self.table:
            check_table_path(path)
        comparison = compare(
            *self.runs,
            names=self.names or None,
            measure=self.measure,
            threshold=self.threshold,
            first_step=self.first_step,
            baseline=self.baseline,
        )
        print(comparison)
        comparison.plot(self.out)
        for path in self.table:
            comparison.save_table(path)
            print(f"table: {path}")
        print(f"figure: {self.out}")
