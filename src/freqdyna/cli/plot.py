"""The command `freqdyna plot`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from freqdyna.core.errors import FreqdynaError

if TYPE_CHECKING:
    from freqdyna.results.result import Result


@dataclass(frozen=True)
class Plot:
    """Draw one or more runs into one picture; with learning curves, print their table."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """The run folders."""
    what: Literal["curves", "queue", "value", "frequency", "episodes"] = "curves"
    """Learning curves; or, from the snapshots of `train --snapshot-steps`: the states in the
    replay and the search-control queue, the value V, the local frequency g; or the lengths of a
    tabular agent's training episodes."""
    step: int | None = None
    """Which snapshot. Unset: the last."""
    seed: int | None = None
    """Whose queue, V or g. Unset: the first seed's."""
    out: Path | None = None
    """The picture, PNG, PDF or SVG by its ending. Unset: named after `what`, in the only run
    folder given, or in the current folder."""

    def run(self) -> None:
        """Do it."""
        if not self.folders:
            raise FreqdynaError("folders is empty; give at least one run folder")
        from freqdyna.results.result import load
        from freqdyna.results.table import print_table

        results = [load(folder) for folder in self.folders]
        parent = self.folders[0] if len(self.folders) == 1 else Path()
        out = self.out or parent / f"{self.what}.png"
        if not out.suffix:
            raise FreqdynaError(f"out is {str(out)!r}; it must end in .png, .pdf or .svg")
        figure = self._figure(results)
        try:
            figure.savefig(out)
        except (OSError, ValueError) as error:
            raise FreqdynaError(f"out is {str(out)!r}, which cannot be written: {error}") from None
        if self.what == "curves":
            print_table(list(zip(self.folders, results, strict=True)))
        print(f"picture: {out}")

    def _figure(self, results: "list[Result]") -> Any:
        from freqdyna.results import plot, plot_snapshots

        match self.what:
            case "curves":
                return plot.plot_curves(results)
            case "queue":
                return plot_snapshots.plot_states(results, self.step, self.seed)
            case "episodes":
                return plot_snapshots.plot_episodes(results, self.step)
        return plot_snapshots.plot_surfaces(results, self.what, self.step, self.seed)
