"""The command line: `freqdyna train`, `resume`, `plot` and `list`."""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from freqdyna.config import Config
from freqdyna.errors import FreqdynaError


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
    """Draw the learning curves of one or more runs into one picture, and print their table."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """The run folders."""
    out: Path | None = None
    """The picture, PNG, PDF or SVG by its ending. Unset: curves.png in the only run folder given,
    or in the current folder."""

    def run(self) -> None:
        """Do it."""
        if not self.folders:
            raise FreqdynaError("folders is empty; give at least one run folder")
        from freqdyna.results.plot import plot_curves
        from freqdyna.results.result import load
        from freqdyna.results.table import print_table

        results = [load(folder) for folder in self.folders]
        out = self.out or (self.folders[0] if len(self.folders) == 1 else Path()) / "curves.png"
        if not out.suffix:
            raise FreqdynaError(f"out is {str(out)!r}; it must end in .png, .pdf or .svg")
        try:
            plot_curves(results).savefig(out)
        except (OSError, ValueError) as error:
            raise FreqdynaError(f"out is {str(out)!r}, which cannot be written: {error}") from None
        print_table(list(zip(self.folders, results, strict=True)))
        print(f"picture: {out}")


@dataclass(frozen=True)
class List:
    """Name the algorithms and environments, one line each."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.algorithms import ALGORITHMS
        from freqdyna.envs import ENVIRONMENTS

        width = max(map(len, (*ALGORITHMS, *ENVIRONMENTS)))
        for title, entries in (("algorithms", ALGORITHMS), ("environments", ENVIRONMENTS)):
            print(f"{title}:")
            for name, entry in entries.items():
                print(f"  {name:{width}}  {entry.summary}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when done, 2 on bad input, 130 when interrupted."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        _parse(given).run()
    except FreqdynaError as error:
        print(f"freqdyna: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        print(f"freqdyna: {interrupt or 'interrupted'}", file=sys.stderr)
        sys.exit(130)


def _parse(arguments: list[str]) -> Any:
    """The command that the arguments ask for."""
    subcommand = tyro.conf.subcommand
    commands = (
        Annotated[Train, subcommand("train", default=_train_defaults(arguments))]
        | Annotated[Resume, subcommand("resume")]
        | Annotated[Plot, subcommand("plot")]
        | Annotated[List, subcommand("list")]
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
