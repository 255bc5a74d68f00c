"""The settings of a run: typed, checked, and kept as a small TOML file beside its results."""

import json
import math
import tomllib
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.files import write_atomically

if TYPE_CHECKING:
    from freqdyna.envs.space import Space

_SETTINGS_ELSEWHERE: dict[str, Any] = {
    "planning_steps": 10,
    "hidden": (32, 32),
    "search_states": 20,
    "learn_in_warmup": False,
    "model": "true",
    "model_termination": "known",
    "eval_exploration": 0.05,
    "episode_limit": 2000,
}
_SETTINGS_BY_ENV: dict[str, dict[str, Any]] = {
    # What the paper sets differently from MountainCar (reproducibility section).
    "MazeGridWorld": {"planning_steps": 30, "hidden": (64, 64), "search_states": 50},
    # The paper's loop to the letter; on GridWorld it collapses networks (docs/algorithms/er.md).
    "MountainCar-v0": {"learn_in_warmup": True},
    # Gymnasium's limits.
    "CartPole-v1": {"episode_limit": 500},
    "Acrobot-v1": {"episode_limit": 500},
}

_GREATEST = 2**31 - 1  # keys and counters are 32 bits wide
_GREATEST_FLOAT = 1e30  # inside float32, with some room for sums
_AT_LEAST_ONE = (
    *("seeds", "steps", "batch_size", "target_period", "buffer_size", "queue_size"),
    *("climb_limit", "eval_every", "eval_episodes"),
)
_SHARES = (
    *("discount", "exploration", "simulated_share", "target_rate"),
    *("planning_exploration", "frequency_probability"),
)
_NOT_NEGATIVE = (
    *("learning_rate", "tabular_learning_rate", "model_learning_rate"),
    *("priority_exponent", "reward_noise"),
    *("gradient_weight", "hessian_weight", "climb_step_size", "climb_noise"),
)
_CHOICES = {
    "model": ("true", "learned"),
    "model_termination": ("known", "learned"),
    "frequency_network": ("online", "target"),
    "climb_noise_scales": ("variance", "deviation"),
    "climb_preconditioner": ("covariance", "identity"),
    "climb_boundary": ("restart", "project"),
}


@dataclass(frozen=True)
class Config:
    """Everything that decides what a run computes. Defaults are the paper's."""

    algorithm: str = "er"
    """Name of the algorithm; `freqdyna list` names them all."""
    env: str = "MountainCar-v0"
    """Name of the environment: one of `freqdyna list`, or any that Gymnasium knows."""
    seeds: int = 30
    """Number of independent runs, trained at once."""
    first_seed: int = 0
    """The seeds are first_seed, first_seed + 1, and so on."""
    steps: int = 50_000
    """Environment steps of each seed."""
    planning_steps: int | None = None
    """Updates for each environment step (the paper's d). Unset: 30 on MazeGridWorld, 5 with
    continuous actions, else 10."""
    batch_size: int = 32
    """Transitions in a mini-batch (b)."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    tabular_learning_rate: float = 0.1
    """Step size of tabular-dyna-q."""
    discount: float = 0.99
    """Discount factor (gamma)."""
    hidden: tuple[int, ...] | None = None
    """Widths of the tanh layers. Unset: 64 64 on MazeGridWorld and with continuous actions, else
    32 32."""
    target_period: int = 1000
    """Updates between two copies of the network to the target network (tau)."""
    target_rate: float = 0.005
    """NAF only: share of its distance that the target network goes at each update."""
    exploration: float = 0.1
    """Share of random actions after the warm-up (epsilon); with continuous actions the standard
    deviation of their noise, by half their range."""
    warmup_steps: int = 5000
    """First steps, in which every action is random."""
    learn_in_warmup: bool | None = None
    """Whether updates and searches begin with the first step, rather than after the warm-up.
    Unset: yes on MountainCar-v0, no elsewhere."""
    buffer_size: int = 100_000
    """Transitions that the replay buffer holds."""
    priority_exponent: float = 0.6
    """prioritized-er only: priorities are |temporal difference| to this power."""
    search_control: str | None = None
    """Algorithm dyna only: where to plan from, a name of `freqdyna list` or module:Class."""
    search_states: int | None = None
    """States to fetch at each step (m). Unset: 50 on MazeGridWorld, else 20."""
    simulated_share: float = 0.5
    """Share of a mini-batch that is simulated by the model (beta)."""
    queue_size: int = 100_000
    """States that the search-control queue holds."""
    planning_exploration: float = 0.1
    """As exploration, for the actions paired with queue states."""
    model: str | None = None
    """What simulates transitions: "true" (the environment's own) or "learned" (online). Unset: true
    for built-in environments, learned for Gymnasium's."""
    model_termination: str | None = None
    """Learned model: whether a state is terminal is "known", or "learned" too. Unset: known for
    built-in environments."""
    model_learning_rate: float = 1e-4
    """Adam's step size for the learned model."""
    frequency_probability: float = 0.5
    """Share of climbs that follow the local frequency rather than the value (p)."""
    frequency_network: str = "online"
    """Whose local frequency is climbed: the "online" network's or the "target" network's."""
    gradient_weight: float = 1.0
    """Weight of the squared gradient norm in the local frequency (eta_1)."""
    hessian_weight: float = 1.0
    """Weight of the squared Hessian norm in the local frequency (eta_2)."""
    climb_step_size: float = 0.01
    """Length of a climbing step (alpha)."""
    climb_noise: float = 0.01
    """Scale of the climbing noise (eta)."""
    climb_noise_scales: str = "variance"
    """Whether climb_noise scales the "variance" (the paper) or the "deviation" of the noise."""
    climb_preconditioner: str = "covariance"
    """Climb along the empirical "covariance" times the gradient, or the "identity"."""
    climb_boundary: str = "restart"
    """On leaving the state space "restart", or "project" back onto it."""
    climb_keep_terminal: bool = False
    """Whether terminal states may enter the queue."""
    climb_limit: int = 200
    """Most climbing iterations at one step."""
    reward_noise: float = 0.0
    """Standard deviation of the Gaussian noise on rewards (sigma)."""
    goal_reward: float | None = None
    """Reward of the step that reaches the goal. Unset: the environment's own."""
    episode_limit: int | None = None
    """Steps after which an episode is cut; a cut is not a termination. Unset: the environment's
    own limit, if Gymnasium's, else 2000."""
    normalize: bool = False
    """Gymnasium's environments: whether observations are scaled by their mean and deviation over
    1,000 random steps."""
    eval_every: int = 500
    """Environment steps between two evaluations."""
    eval_episodes: int = 1
    """Episodes averaged in one evaluation of one seed."""
    eval_exploration: float | None = None
    """As exploration, in evaluation. Unset: 0.05, or 0 with continuous actions."""
    snapshot_steps: tuple[int, ...] = ()
    """Steps after which to record the replay, the queue, V and g, for `freqdyna plot --what`."""
    devices: int | None = None
    """Devices that share the seeds. Unset: every accelerator, or every CPU core."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _plain(getattr(self, field.name)))
        self._check()
        for name in _FLOATS:  # 1 and 1.0, 0.0 and -0.0 are one setting, and must be written alike
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)) + 0.0)

    def resolved(self, space: "Space | None" = None) -> "Config":
        """The same with what is unset filled in by what the paper sets for the environment.

        `space` is needed but for built-in environments.
        """
        defaults = _SETTINGS_ELSEWHERE | _SETTINGS_BY_ENV.get(self.env, {})
        if space is not None:
            defaults |= space.default_settings
        unset = {name: value for name, value in defaults.items() if getattr(self, name) is None}
        return replace(self, **unset)

    def may_become(self, other: "Config") -> bool:
        """Whether `other` is this with what is unset filled in, by whatever environment."""
        names = (name for name in _SETTINGS_ELSEWHERE if getattr(self, name) is None)
        unset: dict[str, Any] = dict.fromkeys(names)
        return self == replace(other, **unset)

    def _check(self) -> None:
        for name in ("algorithm", "env"):
            _require(name, getattr(self, name), isinstance(getattr(self, name), str), "a name")
        named = self.search_control is None or isinstance(self.search_control, str)
        _require("search_control", self.search_control, named, "a name")
        for name in _AT_LEAST_ONE:
            _require_whole(name, getattr(self, name), 1)
        for name in ("search_states", "devices", "episode_limit"):
            if getattr(self, name) is not None:
                _require_whole(name, getattr(self, name), 1)
        if self.planning_steps is not None:
            _require_whole("planning_steps", self.planning_steps, 0)
        for name in ("first_seed", "warmup_steps"):
            _require_whole(name, getattr(self, name), 0)
        for name in _SHARES:
            _require_number(name, getattr(self, name), 0, 1)
        if self.eval_exploration is not None:
            _require_number("eval_exploration", self.eval_exploration, 0, 1)
        for name in _NOT_NEGATIVE:
            _require_number(name, getattr(self, name), 0, math.inf)
        for name in ("learn_in_warmup", "climb_keep_terminal", "normalize"):
            flag = getattr(self, name)
            unset = flag is None and name == "learn_in_warmup"
            _require(name, flag, unset or isinstance(flag, bool), "True or False")
        for name, choices in _CHOICES.items():
            chosen = getattr(self, name)
            unset = chosen is None and name in _SETTINGS_ELSEWHERE
            _require(name, chosen, unset or chosen in choices, f"{choices[0]!r} or {choices[1]!r}")
        if self.goal_reward is not None:
            _require_number("goal_reward", self.goal_reward, -math.inf, math.inf)
        if self.hidden is not None:
            layers = isinstance(self.hidden, tuple) and len(self.hidden) > 0
            _require("hidden", self.hidden, layers, "one width for each layer, such as 32 32")
            for width in self.hidden:
                _require_whole("hidden", width, 1)
        snapshots = isinstance(self.snapshot_steps, tuple)
        _require("snapshot_steps", self.snapshot_steps, snapshots, "a tuple of steps")
        for step in self.snapshot_steps:
            _require_whole("snapshot_steps", step, 1)
            _require("snapshot_steps", step, step <= self.steps, f"at most steps, {self.steps:,}")
        for name, last in (
            ("first_seed + seeds", self.first_seed + self.seeds),
            ("steps × planning_steps", self.steps * (self.planning_steps or 1)),
        ):
            _require(name, last, last <= _GREATEST, f"at most {_GREATEST:,}")

    def save(self, path: Path) -> None:
        """Write the settings that are set, as TOML."""
        lines = [f"{k} = {_toml(v)}" for k, v in asdict(self).items() if v is not None]
        text = "\n".join(lines) + "\n"
        write_atomically(path, lambda file: file.write(text.encode()))

    @staticmethod
    def load(path: Path) -> "Config":
        """Read settings written by `save`, or by hand; what is missing takes its default."""
        try:
            settings = tomllib.loads(Path(path).read_text())
        except FileNotFoundError:
            raise FreqdynaError(f"no configuration file at {path}") from None
        except OSError as error:
            raise FreqdynaError(f"{path} cannot be read: {error}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FreqdynaError(f"{path} is not a TOML file: {error}") from None
        return Config.of(settings)

    @staticmethod
    def of(settings: dict[str, Any]) -> "Config":
        """The configuration with these settings; an unknown name is refused."""
        known = [field.name for field in fields(Config)]
        for name in settings:
            if name not in known:
                raise unknown_name("setting", name, known)
        # TOML has lists, not tuples.
        tuples: dict[str, Any] = {}
        for name, value in settings.items():
            tuples[name] = tuple(value) if isinstance(value, list) else value
        return Config(**tuples)


_FLOATS = tuple(field.name for field in fields(Config) if field.type in (float, float | None))


def _require(name: str, value: object, holds: bool, allowed: str) -> None:
    if not holds:
        raise FreqdynaError(f"{name} is {value!r}; it must be {allowed}")


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, so that they can be written to a file."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _require_whole(name: str, value: object, least: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    _require(name, value, whole and value >= least, f"a whole number, {least} or greater")  # type: ignore[operator]
    _require(name, value, value <= _GREATEST, f"at most {_GREATEST:,}")  # type: ignore[operator]


def _require_number(name: str, value: object, low: float, high: float) -> None:
    allowed = "a finite number"
    if math.isfinite(low):
        allowed = f"{low} or greater" if math.isinf(high) else f"between {low} and {high}"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    holds = number and -math.inf < value < math.inf and low <= value <= high  # type: ignore[operator]
    _require(name, value, holds, allowed)
    fits = abs(value) <= _GREATEST_FLOAT  # type: ignore[arg-type]
    _require(name, value, fits, f"at most {_GREATEST_FLOAT:g} in size")


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)  # strings and whole numbers are written alike in TOML and JSON
