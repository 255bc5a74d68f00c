"""The commands `freqdyna train` and `freqdyna resume`."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from freqdyna.config import Config
from freqdyna.config.config import read_settings
from freqdyna.core.plugins import current_folder_on_path, module_of, require_allowed


@dataclass(frozen=True)
class Train:
    """Train an algorithm on an environment, for many seeds at once."""

    settings: Config = field(default_factory=Config)
    config: Path | None = None
    """A TOML file with settings, such as config.toml of a run folder; options take precedence."""
    preset: str | None = None
    """The name of a preset, see `freqdyna list`; options and the file take precedence over it."""
    out: Path | None = None
    """A new folder for the results. If unset: a free name in runs/."""
    init_from: Path | None = None
    """A run folder: each seed begins with the trained parameters of the same seed there, or with
    those of its only seed."""
    tensorboard: bool = False
    """Also write TensorBoard events to the run folder (extra 'tensorboard')."""
    wandb: bool = False
    """Also send the metrics to Weights & Biases (extra 'wandb')."""
    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints."""
    allow_code: bool = False
    """Whether the file of --config may name code to import, as module:Class. Use it only if you
    trust it; names that you type as options need no permission."""
    typed_names: tyro.conf.Suppress[tuple[str, ...]] = ()
    """The names of code, such as the environment's, that were typed and not read from a file."""

    def run(self) -> None:
        """Run the command."""
        names = {
            "env": self.settings.env,
            "search_control": self.settings.search_control,
            "model": self.settings.model,
        }
        for setting, name in names.items():
            if not self.allow_code and name not in self.typed_names:
                require_allowed(setting, name)
        with current_folder_on_path(any(module_of(name) is not None for name in names.values())):
            self._run()

    def _run(self) -> None:
        from freqdyna.results import run_folder
        from freqdyna.results.table import print_table
        from freqdyna.training import api

        out = self.out or run_folder.free_name(self.settings)
        settings = {k: getattr(self.settings, k) for k in Config.__dataclass_fields__}
        result = api.train(
            preset=self.preset,
            out=out,
            tensorboard=self.tensorboard,
            wandb=self.wandb,
            checkpoint_seconds=self.checkpoint_seconds,
            init_from=self.init_from,
            **settings,
        )
        print_table([(out, result)])


@dataclass(frozen=True)
class Resume:
    """Resume an interrupted run, or extend a finished one, as if it had not been interrupted."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    steps: int | None = None
    """The new number of environment steps per seed in total, to extend the run."""
    tensorboard: bool = False
    """Also write TensorBoard events to the run folder (extra 'tensorboard')."""
    wandb: bool = False
    """Also send the metrics to Weights & Biases (extra 'wandb')."""
    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints."""
    allow_code: bool = False
    """Whether the folder may name code to import, as module:Class. Use it only if you trust it."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.results.table import print_table
        from freqdyna.training import api

        with current_folder_on_path(self.allow_code):
            result = api.resume(
                self.folder,
                tensorboard=self.tensorboard,
                wandb=self.wandb,
                checkpoint_seconds=self.checkpoint_seconds,
                allow_code=self.allow_code,
                steps=self.steps,
            )
        print_table([(self.folder, result)])


def train_defaults(arguments: list[str]) -> Train:
    """The defaults of `train`: the settings of the file and the preset in the arguments."""
    if arguments[:1] != ["train"]:
        return Train()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path, nargs="?")  # a missing value is an error later
    control = ["--search-control", "--search_control"]
    for names in (["--preset"], ["--env"], ["--algorithm"], control, ["--model"]):
        parser.add_argument(*names, nargs="?")
    for name in ("--seed", "--seeds"):
        parser.add_argument(name, nargs="?")
    named = parser.parse_known_args(arguments)[0]
    settings = read_settings(named.config) if named.config else {}
    for name in ("env", "algorithm"):  # the preset may depend on them
        if getattr(named, name) is not None:
            settings[name] = getattr(named, name)
    if named.seed is not None and named.seeds is None:
        settings["seeds"] = 1  # as in other libraries; with --seeds, it is the first one
    typed = tuple(name for name in (named.env, named.search_control, named.model) if name)
    return Train(settings=Config.of(settings, named.preset), typed_names=typed)
