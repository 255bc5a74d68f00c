"""The commands `freqdyna train` and `freqdyna resume`."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from freqdyna.config import Config
from freqdyna.config.config import read_settings


@dataclass(frozen=True)
class Train:
    """Train an algorithm on an environment, many seeds at once."""

    settings: tyro.conf.OmitArgPrefixes[Config] = field(default_factory=Config)
    config: Path | None = None
    """TOML file with settings, such as a run folder's config.toml; flags win over it."""
    preset: str | None = None
    """Named table of settings, see `freqdyna list`; flags and the file take precedence over it."""
    out: Path | None = None
    """New folder for the results. Unset: a free name under runs/."""
    tensorboard: bool = False
    """Also write TensorBoard events into the run folder (extra 'tensorboard')."""
    checkpoint_seconds: float = 60.0
    """Seconds between two checkpoints."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.results import run_folder
        from freqdyna.results.table import print_table
        from freqdyna.training import api

        out = self.out or run_folder.free_name(self.settings)
        settings = {k: getattr(self.settings, k) for k in Config.__dataclass_fields__}
        result = api.train(
            preset=self.preset,
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
        from freqdyna.results.table import print_table
        from freqdyna.training import api

        result = api.resume(
            self.folder, tensorboard=self.tensorboard, checkpoint_seconds=self.checkpoint_seconds
        )
        print_table([(self.folder, result)])


def train_defaults(arguments: list[str]) -> Train:
    """What `train` starts from: the settings of the file and the preset that are named."""
    if arguments[:1] != ["train"]:
        return Train()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path, nargs="?")  # a missing value is refused later
    for name in ("--preset", "--env"):
        parser.add_argument(name, nargs="?")
    named = parser.parse_known_args(arguments)[0]
    settings = read_settings(named.config) if named.config else {}
    if named.env is not None:  # what a preset has may depend on it
        settings["env"] = named.env
    return Train(settings=Config.of(settings, named.preset))
