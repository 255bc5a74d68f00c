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
    """Plot one or more runs in one figure; for learning curves, also print a table."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Run folders, and folders of sweeps, of which every combination is drawn."""
    what: Literal["curves", "queue", "value", "frequency", "episodes"] = "curves"
    """Learning curves; or, from the snapshots of `train --snapshot-steps`: the states in the
    replay buffer and the search-control queue, the value V, or the local frequency g; or the
    lengths of the training episodes of a tabular agent."""
    metric: str = "return"
    """The metric of the learning curves; docs/metrics.md lists them, and callbacks may add some."""
    step: int | None = None
    """The step of the snapshot. If unset: the last one."""
    seed: int | None = None
    """The seed whose queue, V or g is plotted. If unset: the first one."""
    out: Path | None = None
    """The file to write: PNG, PDF or SVG, depending on its ending. If unset: named after `what`, in
    the run folder if there is only one, otherwise in the current folder."""

    def run(self) -> None:
        """Run the command."""
        if not self.folders:
            raise FreqdynaError("folders is empty; it must have at least one run folder")
        from freqdyna.results.plot import save_figure
        from freqdyna.results.table import print_table
        from freqdyna.sweeps.load import find

        found = [(folder, training.result) for folder in self.folders for training in find(folder)]
        results = [result for _, result in found]
        parent = self.folders[0] if len(self.folders) == 1 else Path()
        out = self.out or parent / f"{self.what}.png"
        if not out.suffix:
            raise FreqdynaError(f"out is {str(out)!r}; it must end in .png, .pdf or .svg")
        figure = self._figure(results)
        save_figure(figure, out)
        if self.what == "curves":
            print_table(found)
        print(f"figure: {out}")

    def _figure(self, results: "list[Result]") -> Any:
        from freqdyna.results import plot, plot_snapshots

        match self.what:
            case "curves":
                return plot.plot_curves(results, self.metric)
            case "queue":
                return plot_snapshots.plot_states(results, self.step, self.seed)
            case "episodes":
                return plot_snapshots.plot_episodes(results, self.step)
        return plot_snapshots.plot_surfaces(results, self.what, self.step, self.seed)
