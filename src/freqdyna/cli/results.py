"""The commands that read results: plot, compare, import, watch, export, list and report."""

import os
import shlex
import sys
from dataclasses import asdict, dataclass
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.core.plugins import Registry, current_folder_on_path

if TYPE_CHECKING:
    from freqdyna.results.result import Result


@dataclass(frozen=True)
class Plot:
    """Plot one or more runs in one figure; for learning curves, also print a table of them."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Run folders, and folders of sweeps, of which every combination is drawn."""
    what: Literal["curves", "queue", "value", "frequency", "trust"] = "curves"
    """Learning curves; or, from the snapshots of `train --snapshot-steps`: the states in the
    replay buffer and the search-control queue, the value V, the local frequency g, or the weight of
    what is planned: a map of two coordinates, or else over the distance from visited states."""
    metric: str = "return"
    """The metric of the learning curves; docs/metrics.md lists them, and callbacks may add some."""
    x: Literal["steps", "seconds"] = "steps"
    """Whether learning curves are drawn over environment steps, or over seconds of training."""
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
        from freqdyna.results.draw import save_figure
        from freqdyna.results.tables import print_table
        from freqdyna.sweeps.load import find

        runs = [(folder, training.result) for folder in self.folders for training in find(folder)]
        if self.what == "curves":
            results = [result for _, result in runs]
            has = [self.metric in result.metrics for result in results]
            runs = list(compress(runs, self._drawn(results, has, f"it has no {self.metric!r}")))
        parent = self.folders[0] if len(self.folders) == 1 else Path()
        kind = f"{self.what}.png" if self.metric == "return" else f"curves-{self.metric}.png"
        out = self.out or parent / kind
        save_figure(self._figure([result for _, result in runs]), out)
        if self.what == "curves":
            print_table(runs, metric=self.metric)
        print(f"figure: {out}")

    def _figure(self, results: "list[Result]") -> Any:
        from freqdyna.results import maps, plot
        from freqdyna.results.draw import draw

        match self.what:
            case "curves":
                return plot.plot_curves(results, self.metric, self.x)
            case "queue":
                return draw(maps.states_chart(results, self.step, self.seed))
            case "trust":
                has = [any("queue_trust" in s for s in r.snapshots.values()) for r in results]
                drawn = self._drawn(results, has, "its snapshots have no weights")
                results = list(compress(results, drawn))
                if any("trust" not in s for r in results for s in r.snapshots.values()):
                    return draw(maps.trust_chart(results, self.step))
        return draw(maps.surfaces_chart(results, self.what, self.step, self.seed))

    def _drawn(self, results: "list[Result]", has: list[bool], otherwise: str) -> list[bool]:
        """Which results can be drawn, with the others named; all of them if none can."""
        from freqdyna.results.chart import record_labels

        for label, can in zip(record_labels(results), has, strict=True):
            if any(has) and not can:
                print(f"not drawn, because {otherwise}: {label}")
        return has if any(has) else [True] * len(has)


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
    x: Literal["steps", "seconds"] = "steps"
    """Whether runs are compared over environment steps, or over seconds of training."""
    threshold: float | None = None
    """The return for the steps to a threshold. If unset: the middle between the mean return of
    untrained policies and the highest mean return in an environment."""
    baseline: str | None = None
    """The run that all others are compared with: its name, or its number in the table. If unset:
    the first one."""
    all_pairs: bool = False
    """Whether to compare all pairs instead of all runs with the baseline."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.results.tables import require_table
        from freqdyna.sweeps.load import compare

        for path in self.table:
            require_table(path)  # before anything is compared
        options = {k: v for k, v in asdict(self).items() if k not in ("runs", "out", "table")}
        comparison = compare(*self.runs, **options | {"names": self.names or None})
        print(comparison)
        for path in self.table:
            comparison.save_table(path)
            print(f"table: {path}")
        comparison.plot(self.out)
        print(f"figure: {self.out}")


@dataclass(frozen=True)
class ImportCurves:
    """Import learning curves of other programs, to plot, compare and report them like runs."""

    files: tyro.conf.Positional[tuple[Path, ...]]
    """CSV files with the columns seed, step and return; or for each seed one evaluations.npz or one
    monitor file of Stable-Baselines3, one TensorBoard event file, or a folder with one of these."""
    name: str | None = None
    """The name of the algorithm. If unset: that of the file or folder."""
    env: str | None = None
    """The name of the environment. If unset: that in monitor files."""
    episode_limit: int | None = None
    """After how many steps its episodes were truncated. If unset: Gymnasium's limit; for CSV files
    that of the built-in environment of this name."""
    out: Path | None = None
    """A new folder for the curves. If unset: a free name in runs/."""
    tag: str | None = None
    """TensorBoard only: the name of the scalar. If unset: eval/mean_reward, rollout/ep_rew_mean or
    charts/episodic_return."""
    every: int | None = None
    """Average returns over intervals of so many steps. If unset: only if the seeds have different
    steps, over up to 100 intervals."""
    where: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """CSV files only: use the rows with these values, such as algorithm=SAC env=Hopper-v4. The name
    and the environment are then those."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.config import Config
        from freqdyna.results.folder import free_name
        from freqdyna.results.imports import UNKNOWN, import_curves
        from freqdyna.results.record import IMPORTED
        from freqdyna.results.tables import print_table

        options = {k: v for k, v in asdict(self).items() if k not in ("files", "out")}
        options["where"] = where = dict[str, str]()
        for pair in chain(*self.where):
            column, equals, value = pair.partition("=")
            if not equals or column in where:
                raise FreqdynaError(f"where has {pair!r}; it must be column=value, once a column")
            where[column] = value
        result = import_curves(*self.files, **options)
        facts = result.provenance[IMPORTED]
        out = self.out or free_name(Config(algorithm=facts["name"], env=result.env_name))
        result.save(out)
        print(f"imported from {result.imported_from}")
        if every := facts.get("averaged_over_steps"):
            print(f"returns are averaged over intervals of {counted(every, 'step')}")
        if result.config.env == UNKNOWN:
            print("the environment is unknown, so it is compared with none; set it with --env")
        print_table([(out, result)])


@dataclass(frozen=True)
class _Policy:
    """The trained policy of one seed of a run."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    seed: int | None = None
    """The seed. If unset: the first one."""
    allow_code: bool = False
    """Whether the folder may name code to import, as env = "module:id". Use it only if you trust
    it."""


@dataclass(frozen=True)
class WatchPolicy(_Policy):
    """Write an animation (GIF) of episodes of a run's trained policy, without exploration."""

    episodes: int = 3
    """The number of episodes, 1 to 100."""
    out: Path | None = None
    """The file to write, which must end in .gif. If unset: policy.gif in the run folder."""

    def run(self) -> None:
        """Run the command."""
        _render_without_display()
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.gif"
        with current_folder_on_path(self.allow_code):
            result = load(self.folder, allow_code=self.allow_code)
            result.watch(out, self.seed, self.episodes, progress=True)


def _render_without_display() -> None:
    """Let Pygame and MuJoCo render to memory; without a display they would fail."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    has_display = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if sys.platform == "linux" and not has_display:
        os.environ.setdefault("MUJOCO_GL", "egl")


@dataclass(frozen=True)
class ExportPolicy(_Policy):
    """Write a run's trained policy as NumPy arrays, for use without JAX."""

    out: Path | None = None
    """The file to write, which must end in .npz. If unset: policy.npz in the run folder."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.npz"
        with current_folder_on_path(self.allow_code):
            load(self.folder, allow_code=self.allow_code).export_policy(out, self.seed)
        print(f"policy: {out}")


@dataclass(frozen=True)
class ListNames:
    """List the algorithms, environments, search-controls, models, kinds of trust and presets."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.agents.algorithms import ALGORITHMS
        from freqdyna.agents.models import MODELS
        from freqdyna.agents.presets import PRESETS
        from freqdyna.agents.trust import TRUSTS
        from freqdyna.envs import ENVIRONMENTS
        from freqdyna.search_control import SEARCH_CONTROLS

        names = {"algorithms": {name: recipe.summary for name, recipe in ALGORITHMS.items()}}
        registries: dict[str, Registry[Any]] = {"environments": ENVIRONMENTS}
        registries |= {"search-controls": SEARCH_CONTROLS, "models": MODELS, "trust": TRUSTS}
        for title, registry in registries.items():
            names[title] = {name: registry.summary(kind) for name, kind in registry.items()}
        names["presets"] = {name: preset.summary for name, preset in PRESETS.items()}
        width = max(len(name) for entries in names.values() for name in entries)
        for title, entries in names.items():
            print(f"{title}:")
            for name, text in entries.items():
                print(f"  {name:{width}}  {text}")


@dataclass(frozen=True)
class WriteReport:
    """Write an interactive HTML page about runs or sweeps."""

    folders: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of run folders, and sweeps (folders or addresses such as
    s3://bucket/sweep)."""
    out: Path = Path("report.html")
    """The file to write."""
    baseline: str | None = None
    """The run that all others are compared with: its name, or its number. If unset: the first."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.report import page
        from freqdyna.sweeps.load import Location, find, relative

        if self.out.suffix != ".html":
            raise FreqdynaError(f"out is {str(self.out)!r}; it must end in .html")
        page.library()  # before anything is analysed
        known: set[Location] = set()
        trainings = [training for folder in self.folders for training in find(folder, known)]
        if not trainings:
            raise FreqdynaError("folders is empty; it must have at least one folder")
        names = map(relative, self.folders)
        command = shlex.join(["freqdyna", "report", *names, "--out", self.out.name])
        sources, results, trials = zip(*trainings, strict=True)
        page.write(page.report(results, sources, command, self.baseline, trials), self.out)
        print(f"report: {self.out} ({self.out.stat().st_size / 1e6:.1f} MB)")
