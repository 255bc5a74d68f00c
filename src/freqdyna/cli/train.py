"""The commands train and resume; the options of `train` are grouped, the basic ones first."""

import argparse
import ast
import inspect
import textwrap
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import tyro

from freqdyna.config import Config
from freqdyna.config.config import ALIASES, read_settings
from freqdyna.core.plugins import current_folder_on_path, module_of, require_allowed

BASIC = ("algorithm", "env", "env_kwargs", "seeds", "first_seed", "steps", "devices")
"""The settings that are shown first, with the options of the command itself."""
GROUPS: dict[str, tuple[str, ...]] = {
    "learning": (
        *("learning_rate", "discount", "batch_size", "planning_steps", "hidden", "activation"),
        *("warmup_steps", "learn_in_warmup"),
        *("exploration", "exploration_initial", "exploration_fraction"),
        *("buffer_size", "priority_exponent", "target_period", "target_rate", "double", "loss"),
        *("max_gradient_norm", "scale_observations", "tabular_learning_rate"),
    ),
    "search-control": (
        *("search_control", "search_states", "search_candidates", "queue_size"),
        *("simulated_share", "planning_exploration", "rollout_length"),
    ),
    "climbing": (
        *("frequency_probability", "frequency_network", "gradient_weight", "hessian_weight"),
        *("climb_step_size", "climb_noise", "climb_noise_scales", "climb_preconditioner"),
        *("climb_boundary", "climb_keep_terminal", "climb_noise_on_start"),
        *("climb_restart_when_stuck", "climb_restart_rule", "climb_vanishing", "climb_limit"),
        *("climb_iterations", "climb_persistent"),
    ),
    "model": (
        *("model", "model_termination", "model_learning_rate", "model_hidden", "model_updates"),
        *("ensemble_size", "ensemble_outcome"),
    ),
    "environment": (
        *("episode_limit", "reward_noise", "goal_reward", "walls_in_state_space", "collision"),
    ),
    "evaluation": (*("eval_every", "eval_episodes", "eval_exploration", "snapshot_steps"),),
}
"""The other settings, by the title of their group."""
_ALIASES = {name: f"--{alias.replace('_', '-')}" for alias, name in ALIASES.items()}


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
        from freqdyna.results.folder import free_name
        from freqdyna.results.table import print_table
        from freqdyna.training import api

        out = self.out or free_name(self.settings)
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


def train_command(defaults: Train) -> Any:
    """A command whose fields are the options of `freqdyna train`; its `run` trains.

    Args:
        defaults: The values of options that are not given.

    """

    def option(of: Any, name: str) -> tuple[str, Any, Any]:
        aliases = [_ALIASES[name]] if of is defaults.settings and name in _ALIASES else []
        shown = tyro.conf.arg(help=docs[type(of)][name], aliases=aliases)
        hint = get_type_hints(type(of), include_extras=True)[name]
        return name, Annotated[hint, shown], field(default=getattr(of, name))

    docs = {kind: _docs(kind) for kind in (Train, Config)}
    groups = []
    for title, names in GROUPS.items():
        made = make_dataclass(title, [option(defaults.settings, name) for name in names])
        omitted = tyro.conf.OmitArgPrefixes[made]  # type: ignore[valid-type]
        groups.append((_field(title), omitted, field(default_factory=made)))
    own = [option(defaults, one.name) for one in fields(Train) if one.name != "settings"]
    basic = [option(defaults.settings, name) for name in BASIC]
    command = make_dataclass("Train", [*basic, *own, *groups], namespace={"run": _run})
    command.__doc__ = Train.__doc__
    return command()


def _run(command: Any) -> None:
    """Train with the values of the options."""
    holders = dict.fromkeys(BASIC, command)
    for title, names in GROUPS.items():
        holders |= dict.fromkeys(names, getattr(command, _field(title)))
    settings = Config(**{name: getattr(holder, name) for name, holder in holders.items()})
    own = {one.name: getattr(command, one.name) for one in fields(Train) if one.name != "settings"}
    Train(settings=settings, **own).run()


def _field(title: str) -> str:
    return title.replace("-", "_")


def _docs(described: type) -> dict[str, str]:
    """The text below each field of a dataclass."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(described))).body
    assert isinstance(node, ast.ClassDef)
    texts = {}
    for before, after in zip(node.body, node.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            texts[before.target.id] = " ".join(after.value.value.split()) if is_text else ""  # type: ignore[attr-defined]
    return texts
