"""The commands train and resume; options of `train` are the settings of the chosen components."""

import ast
import re
from contextlib import suppress
from dataclasses import dataclass, field, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from freqdyna.config import (
    ALIASES,
    COMPONENTS,
    NAMED,
    Config,
    docs_of,
    flattened,
    read_settings,
    settings_of,
)
from freqdyna.core.errors import RunFailedError
from freqdyna.core.plugins import current_folder_on_path, import_code, module_of, require_allowed

_NAMES = ("algorithm", *NAMED)
"""The settings that say which others there are."""


@dataclass(frozen=True)
class Train:
    """Train an algorithm on an environment, for many seeds at once.

    The options below are those of the chosen environment, algorithm, search-control and model.
    """

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

    check: bool = False
    """Only check in seconds, without training, whether everything fits together."""

    def train(self, settings: dict[str, Any]) -> None:
        """Train with the settings, and print a table of the result."""
        from freqdyna.results.folder import free_name
        from freqdyna.training import api

        if self.check:
            api.check(preset=self.preset, init_from=self.init_from, **settings)
            return
        out = self.out or free_name(Config.of(settings))
        result = api.train(
            preset=self.preset,
            out=out,
            tensorboard=self.tensorboard,
            wandb=self.wandb,
            checkpoint_seconds=self.checkpoint_seconds,
            init_from=self.init_from,
            **settings,
        )
        _show(out, result)


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
        _show(self.folder, result)


def _show(folder: Path, result: Any) -> None:
    """Print the table of the run; it is an error if no seed has results."""
    from freqdyna.results.tables import print_table

    print_table([(folder, result)])
    if not result.complete_seeds.kept.any():
        raise RunFailedError(f"no seed is left: {result.complete_seeds.text('seeds')}")


def train_command(arguments: list[str]) -> tuple[Any, list[str]]:
    """The command `train` with the options of the chosen components, and the arguments for it."""
    if _typed(arguments, "seed") and not _typed(arguments, "seeds"):
        arguments = [*arguments, "--seeds", "1"]  # as in other libraries, it is the only one
    for alias, name in ALIASES.items():
        wanted = re.compile(f"--{alias.replace('_', '[-_]')}(=.*)?$")
        option = f"--{name.replace('_', '-')}"
        arguments = [wanted.sub(rf"{option}\1", argument) for argument in arguments]
    path, preset = _typed(arguments, "config"), _typed(arguments, "preset")
    stored = read_settings(Path(path)) if path else {}
    typed = {name: value for name in _NAMES if (value := _typed(arguments, name))}
    from freqdyna.agents import presets
    from freqdyna.envs import ENVIRONMENTS

    config = presets.config(_replaced(stored, typed), preset)
    with current_folder_on_path(any(map(module_of, config.named.values()))):
        for name, value in config.named.items():
            if name in typed or "--allow-code" in arguments:
                import_code(**{name: value})
            require_allowed(name, value)
        extra: dict[str, Any] = {}
        if config.env not in ENVIRONMENTS:
            arguments, typed_arguments = _environment_arguments(arguments)
            extra = {f"env.{k}": v for k, v in config.of_component("env").items()} | typed_arguments
        classes = _classes(replace(config, settings={**config.settings, **extra}))
    from freqdyna.agents.algorithms import require_known

    require_known(config, classes)  # of the file
    return _options(config, classes, extra), arguments


def _replaced(stored: dict[str, Any], typed: dict[str, str]) -> dict[str, Any]:
    """The settings of a file, without those of components that typed names replace."""
    settings = flattened(stored)
    if "algorithm" in typed and typed["algorithm"] != settings.get("algorithm"):
        settings.pop("search_control", None)
        from freqdyna.agents.algorithms import has_setting

        named = Config.of({k: v for k, v in (settings | typed).items() if k in _NAMES})
        settings = {
            k: v for k, v in settings.items() if k.startswith("env.") or has_setting(named, k)
        }
    for kind in set(NAMED) & typed.keys():
        if typed[kind] != settings.get(kind):
            settings = {k: v for k, v in settings.items() if not k.startswith(f"{kind}.")}
    return settings | typed


def _typed(arguments: list[str], name: str) -> str | None:
    """The value of an option among the arguments; None if it is missing."""
    option = re.compile(f"--{name.replace('_', '[-_]')}(?:=(.*))?$")
    for place, argument in enumerate(arguments):
        if match := option.match(argument):
            return match[1] or next(iter(arguments[place + 1 :]), None)
    return None


def _classes(config: Config) -> dict[str, type]:
    """The class of each component of the run; "" stands for the agent itself."""
    from freqdyna.agents import algorithms
    from freqdyna.envs import ENVIRONMENTS
    from freqdyna.envs.names import environment_of_run, space_of_run

    space = space_of_run(environment_of_run(config), config)
    on_host = config.env not in ENVIRONMENTS
    return algorithms.component_classes(config, space.num_actions == 0, on_host)


def _environment_arguments(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The options of a Gymnasium environment, whose arguments are not known here, and the rest."""
    rest, extra, remaining = [], {}, iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if not name.startswith("--env.") or name == "--env.episode-limit":
            rest.append(argument)
            continue
        setting = name.removeprefix("--").replace("-", "_")
        extra[setting] = value if equals else next(remaining, "")
        with suppress(ValueError, SyntaxError):  # other values are texts
            extra[setting] = ast.literal_eval(extra[setting])
    return rest, extra


def _options(config: Config, classes: dict[str, type], extra: dict[str, Any]) -> Any:
    """The dataclass of all options, with the values of `config` as defaults."""
    from freqdyna.agents.algorithms import defaults_of, recipe_of

    of_learner = defaults_of(classes)

    def option(kind: str, component: type, name: str) -> tuple[str, Any, Any]:
        setting = settings_of(component)[name]
        full = f"{kind}.{name}" if kind else name
        alias = next((a for a, target in ALIASES.items() if target == full), None)
        also = f" Also --{alias.replace('_', '-')}." if alias else ""
        text = docs_of(component).get(name, "") + also
        hint: Any = Annotated[setting.hint, tyro.conf.arg(help=text)]
        return name, hint, field(default=config.get(full, of_learner.get(full, setting.default)))

    groups: list[tuple[str, Any, Any]] = []
    for kind, component in classes.items():
        names = [option(kind, component, name) for name in settings_of(component)]
        if kind and names:
            table = make_dataclass(kind, names)
            prefix = tyro.conf.arg(name=kind.replace("_", "-"))
            groups.append((f"of_{kind}", Annotated[table, prefix], field(default_factory=table)))
    if "env" not in classes:
        limit = config.get("env.episode_limit")
        text = "The number of steps after which an episode is truncated. If unset: its own limit."
        hint: Any = Annotated[int | None, tyro.conf.arg(name="env.episode-limit", help=text)]
        groups.append(("of_env_episode_limit", hint, field(default=limit)))
    recipe = recipe_of(config.algorithm)
    unused = set() if recipe.any_search_control else {"search_control"}
    unused |= set() if recipe.search_control else {"model", "trust"}
    of_run = [option("", Config, name) for name in settings_of(Config) if name not in unused]
    of_agent = [option("", classes[""], name) for name in settings_of(classes[""])]
    agent: Any = make_dataclass("agent", of_agent)
    unprefixed: Any = tyro.conf.OmitArgPrefixes
    groups.insert(0, ("agent", unprefixed[agent], field(default_factory=agent)))

    def run(command: Any) -> None:
        settings = {name: getattr(command, name) for name, *_ in of_run} | extra
        settings |= vars(command.agent)
        for kind in COMPONENTS:
            if table := getattr(command, f"of_{kind}", None):
                settings |= {f"{kind}.{name}": value for name, value in vars(table).items()}
        if getattr(command, "of_env_episode_limit", None):
            settings["env.episode_limit"] = command.of_env_episode_limit
        with current_folder_on_path(any(module_of(settings.get(name)) for name in NAMED)):
            command.train(settings)

    all_options = [*of_run, *groups]
    command = make_dataclass(
        "Train", all_options, bases=(Train,), namespace={"run": run}, frozen=True
    )
    command.__doc__ = Train.__doc__
    return command()
