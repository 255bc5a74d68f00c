"""The settings of a run: typed, checked, and kept as a small TOML file beside its results."""

import json
import tomllib
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from freqdyna.config import history
from freqdyna.config.checks import (
    GREATEST,
    Check,
    Count,
    CountOrZero,
    Flag,
    Name,
    NotNegative,
    Number,
    Share,
    Steps,
    Widths,
    one_of,
    require,
)
from freqdyna.config.presets import preset_settings
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.files import write_atomically

_Model = Annotated[str, one_of("true", "learned")]
_Termination = Annotated[str, one_of("known", "learned")]

# Of the fields below, those with "otherwise" are unset until the environment decides; where it says
# nothing, that value holds.


@dataclass(frozen=True)
class Config:
    """Everything that decides what a run computes.

    The environment decides what is unset (None) where it says so, when a run begins.
    """

    algorithm: Name = "er"
    """Name of the algorithm; `freqdyna list` names them all."""
    env: Name = "MountainCar-v0"
    """Name of the environment: one of `freqdyna list`, or any that Gymnasium knows."""
    seeds: Count = 30
    """Number of independent runs, trained at once."""
    first_seed: CountOrZero = 0
    """The seeds are first_seed, first_seed + 1, and so on."""
    steps: Count = 50_000
    """Environment steps of each seed."""
    planning_steps: CountOrZero | None = field(default=None, metadata={"otherwise": 10})
    """Updates for each environment step (the paper's d). Unset: 30 on MazeGridWorld, 5 with
    continuous actions, else 10."""
    batch_size: Count = 32
    """Transitions in a mini-batch (b)."""
    learning_rate: NotNegative = 1e-3
    """Adam's step size."""
    tabular_learning_rate: NotNegative = 0.1
    """Step size of tabular-dyna-q."""
    discount: Share = 0.99
    """Discount factor (gamma)."""
    hidden: Widths | None = field(default=None, metadata={"otherwise": (32, 32)})
    """Widths of the tanh layers. Unset: 64 64 on MazeGridWorld and with continuous actions, else
    32 32."""
    target_period: Count = 1000
    """Updates between two copies of the network to the target network (tau)."""
    target_rate: Share = 0.005
    """NAF only: share of its distance that the target network goes at each update."""
    exploration: Share = 0.1
    """Share of random actions after the warm-up (epsilon); with continuous actions the standard
    deviation of their noise, by half their range."""
    warmup_steps: CountOrZero = 5000
    """First steps, in which every action is random."""
    learn_in_warmup: Flag | None = field(default=None, metadata={"otherwise": False})
    """Whether updates and searches begin with the first step, rather than after the warm-up.
    Unset: yes on MountainCar-v0, no elsewhere."""
    buffer_size: Count = 100_000
    """Transitions that the replay buffer holds."""
    priority_exponent: NotNegative = 0.6
    """prioritized-er only: priorities are |temporal difference| to this power."""
    search_control: Name | None = None
    """Algorithm dyna only: where to plan from, a name of `freqdyna list` or module:Class."""
    search_states: Count | None = field(default=None, metadata={"otherwise": 20})
    """States to fetch at each step (m). Unset: 50 on MazeGridWorld, else 20."""
    simulated_share: Share = 0.5
    """Share of a mini-batch that is simulated by the model (beta)."""
    queue_size: Count = 100_000
    """States that the search-control queue holds."""
    planning_exploration: Share = 0.1
    """As exploration, for the actions paired with queue states."""
    model: _Model | None = field(default=None, metadata={"otherwise": "true"})
    """What simulates transitions: "true" (the environment's own) or "learned" (online). Unset: true
    for built-in environments, learned for Gymnasium's."""
    model_termination: _Termination | None = field(default=None, metadata={"otherwise": "known"})
    """Learned model: whether a state is terminal is "known", or "learned" too. Unset: known for
    built-in environments."""
    model_learning_rate: NotNegative = 1e-4
    """Adam's step size for the learned model."""
    frequency_probability: Share = 0.5
    """Share of climbs that follow the local frequency rather than the value (p)."""
    frequency_network: Annotated[str, one_of("online", "target")] = "online"
    """Whose local frequency is climbed: the "online" network's or the "target" network's."""
    gradient_weight: NotNegative = 1.0
    """Weight of the squared gradient norm in the local frequency (eta_1)."""
    hessian_weight: NotNegative = 1.0
    """Weight of the squared Hessian norm in the local frequency (eta_2)."""
    climb_step_size: NotNegative = 0.01
    """Length of a climbing step (alpha)."""
    climb_noise: NotNegative = 0.01
    """Scale of the climbing noise (eta)."""
    climb_noise_scales: Annotated[str, one_of("variance", "deviation")] = "variance"
    """Whether climb_noise scales the "variance" (the paper) or the "deviation" of the noise."""
    climb_preconditioner: Annotated[str, one_of("covariance", "identity")] = "covariance"
    """Climb along the empirical "covariance" times the gradient, or the "identity"."""
    climb_boundary: Annotated[str, one_of("restart", "project")] = "restart"
    """On leaving the state space "restart", or "project" back onto it."""
    climb_keep_terminal: Flag = False
    """Whether terminal states may enter the queue."""
    climb_limit: Count = 200
    """Most climbing iterations at one step."""
    reward_noise: NotNegative = 0.0
    """Standard deviation of the Gaussian noise on rewards (sigma)."""
    goal_reward: Number | None = None
    """Reward of the step that reaches the goal. Unset: the environment's own."""
    episode_limit: Count | None = field(default=None, metadata={"otherwise": 2000})
    """Steps after which an episode is truncated, which is not a termination. Unset: the
    environment's own limit, if Gymnasium's, else 2000."""
    normalize: Flag = False
    """Gymnasium's environments: whether observations are scaled by their mean and deviation over
    1,000 random steps."""
    eval_every: Count = 500
    """Environment steps between two evaluations."""
    eval_episodes: Count = 1
    """Episodes averaged in one evaluation of one seed."""
    eval_exploration: Share | None = field(default=None, metadata={"otherwise": 0.05})
    """As exploration, in evaluation. Unset: 0.05, or 0 with continuous actions."""
    snapshot_steps: Steps = ()
    """Steps after which to record the replay, the queue, V and g, for `freqdyna plot --what`."""
    devices: Count | None = None
    """Devices that share the seeds. Unset: every accelerator, or every CPU core."""

    def __post_init__(self) -> None:
        for name, (check, may_be_unset) in _checks().items():
            value = _plain(getattr(self, name))
            if value is not None or not may_be_unset:
                object.__setattr__(self, name, check(name, value))
        for step in self.snapshot_steps:
            require("snapshot_steps", step, step <= self.steps, f"at most steps, {self.steps:,}")
        for name, last in (
            ("first_seed + seeds", self.first_seed + self.seeds),
            ("steps × planning_steps", self.steps * (self.planning_steps or 1)),
        ):
            require(name, last, last <= GREATEST, f"at most {GREATEST:,}")

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left for an environment to decide."""
        return all(getattr(self, name) is not None for name in decided_by_environment())

    def decided(self, name: str) -> Any:
        """The value of a setting that an environment decides; it is refused while it is unset."""
        value = getattr(self, name)
        require(name, value, value is not None, "set, or decided by an environment")
        return value

    def resolved(
        self, defaults: Mapping[str, Any] | None = None, version: str = history.VERSION
    ) -> "Config":
        """The same with what is unset filled in.

        Args:
            defaults: What the environment sets differently, as its `default_settings` say.
            version: The version whose defaults hold elsewhere.

        Returns:
            Settings that are complete.

        """
        before = history.defaults_before(version)
        decided = {**decided_by_environment(), **before, **(defaults or {})}
        unset = [name for name in decided_by_environment() if getattr(self, name) is None]
        return replace(self, **{name: decided[name] for name in unset})

    def may_become(self, other: "Config") -> bool:
        """Whether `other` is this with what is unset filled in, by whatever environment."""
        unset = [name for name in decided_by_environment() if getattr(self, name) is None]
        nothing: dict[str, Any] = dict.fromkeys(unset)
        return self == replace(other, **nothing)

    def save(self, path: Path) -> None:
        """Write the settings that are set, as TOML."""
        lines = [f"{k} = {_toml(v)}" for k, v in asdict(self).items() if v is not None]
        text = "\n".join(lines) + "\n"
        write_atomically(path, lambda file: file.write(text.encode()))

    @staticmethod
    def load(path: Path, version: str = history.VERSION) -> "Config":
        """Read settings written by `save`, or by hand.

        Args:
            path: A TOML file.
            version: What the file lacks has this version's defaults.

        """
        return Config.of(read_settings(path), version=version)

    @staticmethod
    def of(
        settings: Mapping[str, Any], preset: str | None = None, version: str = history.VERSION
    ) -> "Config":
        """The configuration with these settings; an unknown name is refused.

        Args:
            settings: Settings given by hand, which win over all others.
            preset: The name of a preset that gives some of the rest.
            version: What neither gives has this version's defaults.

        """
        known = [field.name for field in fields(Config)]
        for name in settings:
            if name not in known:
                raise unknown_name("setting", name, known)
        # TOML has lists, not tuples.
        given = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
        by_environment = decided_by_environment()
        before = history.defaults_before(version)
        defaults = {k: v for k, v in before.items() if k not in by_environment}
        defaults |= history.added_after(version)
        if preset is not None:
            defaults |= preset_settings(preset, given.get("env", Config.env), version)
        return Config(**defaults | given)


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, not checked yet."""
    try:
        return tomllib.loads(Path(path).read_text())
    except FileNotFoundError:
        raise FreqdynaError(f"no configuration file at {path}") from None
    except OSError as error:
        raise FreqdynaError(f"{path} cannot be read: {error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FreqdynaError(f"{path} is not a TOML file: {error}") from None


@cache
def decided_by_environment() -> Mapping[str, Any]:
    """The settings that may be left to the environment, with what holds if it says nothing."""
    return types.MappingProxyType(
        {f.name: f.metadata["otherwise"] for f in fields(Config) if "otherwise" in f.metadata}
    )


@cache
def _checks() -> dict[str, tuple[Check, bool]]:
    """The check of each setting, as its type carries it, and whether it may be unset."""
    checks = {}
    for name, hint in get_type_hints(Config, include_extras=True).items():
        kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        checks[name] = kinds[0].__metadata__[0], type(None) in kinds
    return checks


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, so that they can be written to a file."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)  # strings and integers are written alike in TOML and JSON
