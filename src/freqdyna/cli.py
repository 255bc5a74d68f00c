"""The command line: `freqdyna train`, `resume`, `plot`, `reproduce` and so on."""

import argparse
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from freqdyna.cli_report import WriteReport
from freqdyna.cli_sweep import RunSweep, ShowStatus
from freqdyna.cli_watch import Watch
from freqdyna.config import Config
from freqdyna.errors import FreqdynaError

if TYPE_CHECKING:
    from freqdyna.results.result import Result


@dataclass(frozen=True)
class Train:
    """Train an algorithm on an environment, many seeds at once."""

    settings: tyro.conf.OmitArgPrefixes[Config] = field(default_factory=Config)
    config: Path | None = None
    """TOML file with settings, such as a run folder's config.toml; flags win over it."""
    out: Path | None = None
    """New folder for the results. Unset: a free name under runs/."""
    tensorboard: bool = False
    """Also write TensorBoard events into the run folder (extra 'tensorboard')."""
    checkpoint_seconds: float = 60.0
    """Seconds between two checkpoints."""

    def run(self) -> None:
        """Do it."""
        from freqdyna import runs
        from freqdyna.results import run_folder
        from freqdyna.results.table import print_table

        out = self.out or run_folder.free_name(self.settings)
        settings = {k: getattr(self.settings, k) for k in Config.__dataclass_fields__}
        result = runs.train(
            out=out,
            tensorboard=self.tensorboard,
            checkpoint_seconds=self.checkpoint_seconds,
            **settings,
        )
        print_table([(out, result)])


@dataclass(frozen=True)
class Resume:
    """Continue an interrupted run to the result that it would have had."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    tensorboard: bool = False
    """Also write TensorBoard events into the run folder (extra 'tensorboard')."""
    checkpoint_seconds: float = 60.0
    """Seconds between two checkpoints."""

    def run(self) -> None:
        """Do it."""
        from freqdyna import runs
        from freqdyna.results.table import print_table

        result = runs.resume(
            self.folder, tensorboard=self.tensorboard, checkpoint_seconds=self.checkpoint_seconds
        )
        print_table([(self.folder, result)])


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


@dataclass(frozen=True)
class Bench:
    """Measure how fast this machine trains; `make bench` also measures other libraries."""

    seeds: tuple[int, ...] = (1, 30)
    """How many seeds at once, one measurement each."""
    growth: bool = True
    """Also measure how the cost grows with seeds, d, m, state dimension and width."""
    out: Path = Path("bench.json")
    """The results."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.bench_report import measure_all, our_jobs

        if not self.seeds:
            raise FreqdynaError("seeds is empty; give at least one number")
        for number in self.seeds:
            if number < 1:
                raise FreqdynaError(f"seeds is {number}; it must be a whole number, 1 or greater")
        jobs = our_jobs(self.seeds)
        minutes = len(jobs) / 3 + (5 if self.growth else 0)
        print(f"Measures for about {minutes:.0f} minutes, most of them compilation.", flush=True)
        measure_all(jobs, self.out, self.growth)


@dataclass(frozen=True)
class Reproduce:
    """Compute a figure or statement of the paper and say whether its claims hold."""

    name: tyro.conf.Positional[str]
    """A part of the paper, such as F1; "all" is one after the other; "list" names them all with
    their state; "table" says what all stored results show."""
    quick: bool = False
    """A smoke run of under a minute, too small to conclude from."""
    out: Path | None = None
    """Where results are kept and looked for. Unset: runs/reproduce, with --quick
    runs/reproduce-quick."""
    seeds: int | None = None
    """Seeds of each training, for the learning experiments (F3 to F8, X1, S and R), which
    have 30 at full size, F7 has 10; the others have their own number, or none."""
    processes: int = 1
    """Parts computed at a time; on a GPU as many as the machine has cores."""
    verify: bool = False
    """Train one stored part of a learning experiment again, drawn at random, and compare."""
    page: Path | None = None
    """With "table": the page to write, in Markdown. Unset: print it."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.experiments import registry, report, reproduce

        out = self.out or (reproduce.QUICK if self.quick else reproduce.FULL)
        self._check()
        if self.name == "list":
            report.print_list(out, self.quick)
        elif self.name == "table":
            self._write_page(report.page(out, self.page or Path("reproduction.md"), self.quick))
            for damage in report.damages(out, self.quick):
                print(f"freqdyna: {damage}", file=sys.stderr)
        elif self.verify:
            from freqdyna.experiments.verify import verify

            print(verify(registry.find(self.name), out, self.seeds))
        else:
            every = [name for name, part in registry.PARTS.items() if part.experiment]
            for name in every if self.name == "all" else [self.name]:
                experiment = registry.find(name)
                seeds, processes = self.seeds, self.processes
                findings = reproduce.reproduce(experiment, out, self.quick, seeds, processes)
                report.print_findings(findings, self.quick)
                print(f"results and picture: {out / name}")

    def _check(self) -> None:
        """Refuse what does not go together, before anything is computed."""
        page = str(self.page)
        if self.page and self.name != "table":
            raise FreqdynaError(f"page is {page!r}; it goes with the name 'table' alone")
        if self.page and (self.page.is_dir() or not self.page.parent.is_dir()):
            raise FreqdynaError(f"page is {page!r}; it must be a file in a folder that exists")
        given = {"seeds": self.seeds, "processes": self.processes, "verify": self.verify}
        usual = {"seeds": None, "processes": 1, "verify": False}
        for name, value in given.items():
            if self.name == "all" and name != "processes" and value != usual[name]:
                raise FreqdynaError(f"{name} is {value}; it goes with one part, not with 'all'")
            if self.name in ("list", "table") and value != usual[name]:
                raise FreqdynaError(
                    f"{name} is {value}; {self.name!r} computes nothing, so leave it away"
                )
            if value is not None and name != "verify" and value < 1:
                raise FreqdynaError(f"{name} is {value}; it must be a whole number, 1 or greater")
        if self.verify and self.quick:
            raise FreqdynaError("verify is True; it is for full size, so leave --quick away")

    def _write_page(self, text: str) -> None:
        if self.page is None:
            print(text, end="")
            return
        try:
            self.page.write_text(text)
        except OSError as error:
            raise FreqdynaError(
                f"page is {str(self.page)!r}, which cannot be written: {error}"
            ) from None
        print(f"page: {self.page}")


@dataclass(frozen=True)
class List:
    """Name the algorithms, environments and search-controls, one line each."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.algorithms import ALGORITHMS
        from freqdyna.envs import ENVIRONMENTS
        from freqdyna.search_control import SEARCH_CONTROLS

        names = {
            "algorithms": {name: recipe.summary for name, recipe in ALGORITHMS.items()},
            "environments": {name: env.summary for name, env in ENVIRONMENTS.items()},
            "search-controls": {
                name: (strategy.__doc__ or "").splitlines()[0]
                for name, strategy in SEARCH_CONTROLS.items()
            },
        }
        width = max(len(name) for entries in names.values() for name in entries)
        for title, entries in names.items():
            print(f"{title}:")
            for name, summary in entries.items():
                print(f"  {name:{width}}  {summary}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when done, 2 on bad input, 130 when interrupted."""
    given = sys.argv[1:] if arguments is None else arguments
    if "" not in sys.path:
        sys.path.insert(0, "")  # modules of one's own, for --search-control module:Class
    try:
        _parse(given).run()
        sys.stdout.flush()
    except FreqdynaError as error:
        print(f"freqdyna: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        print(f"freqdyna: {interrupt or 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has read enough, as `head` does. What is left of it goes nowhere,
        # or Python would complain of the pipe once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(arguments: list[str]) -> Any:
    """The command that the arguments ask for."""
    subcommand = tyro.conf.subcommand
    commands = (
        Annotated[Train, subcommand("train", default=_train_defaults(arguments))]
        | Annotated[Resume, subcommand("resume")]
        | Annotated[Plot, subcommand("plot")]
        | Annotated[Watch, subcommand("watch")]
        | Annotated[List, subcommand("list")]
        | Annotated[Reproduce, subcommand("reproduce")]
        | Annotated[Bench, subcommand("bench")]
        | Annotated[WriteReport, subcommand("report")]
        | Annotated[RunSweep, subcommand("sweep")]
        | Annotated[ShowStatus, subcommand("status")]
    )
    return tyro.cli(
        commands,
        prog="freqdyna",
        description="Search-control in Dyna, many seeds at once.",
        args=arguments or ["--help"],
    )


def _train_defaults(arguments: list[str]) -> Train:
    """What `train` starts from: the settings in the file that --config names, if it does."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path)
    file = parser.parse_known_args(arguments)[0].config
    return Train(settings=Config.load(file)) if file and arguments[:1] == ["train"] else Train()
