"""The options of `freqdyna train` in groups, the basic ones first."""

import ast
import inspect
import textwrap
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, get_type_hints

import tyro

from freqdyna.cli.train import Train
from freqdyna.config import Config
from freqdyna.config.config import ALIASES

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
        *("mixture", "mixture_shares", "bandit_period", "bandit_rate"),
    ),
    "climbing": (
        *("frequency_probability", "frequency_network", "gradient_weight", "hessian_weight"),
        *("climb_step_size", "climb_noise", "climb_noise_scales", "climb_preconditioner"),
        *("climb_boundary", "climb_keep_terminal", "climb_noise_on_start"),
        *("climb_restart_when_stuck", "climb_restart_rule", "climb_vanishing", "climb_limit"),
        *("climb_iterations", "climb_persistent", "climb_coordinates"),
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
