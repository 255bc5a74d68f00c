"""The settings of a run: typed, validated, and stored as a TOML file with its results."""

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from freqdyna.config.checks import (
    GREATEST,
    AlgorithmName,
    Count,
    CountOrZero,
    Flag,
    Keywords,
    Name,
    NotNegative,
    Number,
    Positive,
    Share,
    Steps,
    Widths,
    checks_of,
    from_toml,
    integer,
    known_algorithm,
    one_of,
    one_of_or_code,
    plain,
    require,
)
from freqdyna.config.presets import preset_settings
from freqdyna.core.episode_limits import EPISODE_LIMITS
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.files import parse_toml, read_text, toml_value, write_atomically

ALIASES = {
    "seed": "first_seed",
    "total_timesteps": "steps",
    "gamma": "discount",
    "lr": "learning_rate",
}
"""What other libraries call these settings; on the command line both names work."""
_Model = Annotated[str, one_of_or_code("true", "learned", "ensemble")]
_Termination = Annotated[str, one_of("known", "learned")]

# Fields with "otherwise" in their metadata are unset (None) until a run starts. They then get the
# default of the environment, or if it has none, the value of "otherwise".


@dataclass(frozen=True)
class Config:
    """All settings of a run.

    Settings whose default depends on the environment are unset (None) until a run starts.
    """

    algorithm: AlgorithmName = "er"
    """The name of the algorithm; see `freqdyna list`. "dqn" is another name of "er"."""
    env: Name = "MountainCar-v0"
    """The name of the environment: one of `freqdyna list`, or an id of Gymnasium."""
    seeds: Count = 30
    """The number of independent seeds, which are trained at once."""
    first_seed: CountOrZero = 0
    """The seeds are first_seed, first_seed + 1, and so on. `--seed 3` alone trains seed 3 only."""
    steps: Count = 50_000
    """Environment steps per seed."""
    env_kwargs: Keywords = ()
    """Arguments of the environment, such as g=3.0 for Pendulum-v1; in Python and in TOML files, a
    dictionary. Gymnasium's are passed to `gymnasium.make`."""
    planning_steps: CountOrZero | None = field(default=None, metadata={"otherwise": 10})
    """Updates per environment step (the paper's d). If unset: 30 on MazeGridWorld, 5 with
    continuous actions, otherwise 10."""
    batch_size: Count = 32
    """Transitions per mini-batch (b)."""
    learning_rate: NotNegative = 1e-3
    """The learning rate of Adam."""
    tabular_learning_rate: NotNegative = 0.1
    """The learning rate of tabular-dyna-q."""
    discount: Share = 0.99
    """The discount factor (gamma)."""
    hidden: Widths | None = field(default=None, metadata={"otherwise": (32, 32)})
    """Widths of the hidden layers. If unset: 64 64 on MazeGridWorld and PuddleWorld and with
    continuous actions, otherwise 32 32."""
    activation: Annotated[str, one_of("tanh", "relu", "silu")] = "tanh"
    """The activation of the hidden layers: "tanh" (as in the paper), "relu" or "silu"."""
    target_period: Count = 1000
    """Updates between copies of the network to the target network (tau)."""
    target_rate: Share = 0.005
    """NAF only: the fraction by which the target network moves towards the network per update."""
    double: Flag = False
    """Discrete actions only: whether the network chooses the action in the target, and the target
    network only evaluates it (double Q-learning)."""
    loss: Annotated[str, one_of("squared", "huber")] = "squared"
    """The loss of a temporal-difference error d: "squared" is d², "huber" is d²/2 up to |d| = 1 and
    |d| − 1/2 beyond."""
    max_gradient_norm: Positive | None = None
    """Longer gradients are scaled to this norm before Adam. If unset: no limit."""
    exploration: Share = 0.1
    """The probability of a random action after the warm-up (epsilon); with continuous actions, the
    standard deviation of their noise, relative to half their range."""
    exploration_initial: Share = 1.0
    """The amount of exploration from which a linear schedule starts; see exploration_fraction."""
    exploration_fraction: Share = 0.0
    """The fraction of all steps, warm-up included, during which exploration changes linearly from
    exploration_initial to exploration; 0 for no schedule."""
    warmup_steps: CountOrZero = 5000
    """The number of steps at the start in which every action is random."""
    learn_in_warmup: Flag | None = field(default=None, metadata={"otherwise": False})
    """Whether updates and searches start with the first step, rather than after the warm-up.
    If unset: no, as in the code published by the paper's authors."""
    buffer_size: Count = 100_000
    """The capacity of the replay buffer, in transitions."""
    priority_exponent: NotNegative = 0.6
    """prioritized-er only: priorities are |temporal-difference error| to this power."""
    search_control: Name | None = None
    """Algorithm dyna only: the search-control, a name of `freqdyna list` or module:Class. If unset:
    td-error."""
    search_states: Count | None = field(default=None, metadata={"otherwise": 20})
    """States to find per step (m). If unset: 50 on MazeGridWorld, otherwise 20."""
    search_candidates: Count = 200
    """Search-controls td-error and prioritized-sweeping: how many states are scored per step."""
    simulated_share: Share = 0.5
    """The fraction of a mini-batch that is simulated by the model (beta)."""
    queue_size: Count = 100_000
    """The capacity of the search-control queue, in states."""
    planning_exploration: Share = 0.1
    """Like exploration, for the actions paired with queue states."""
    rollout_length: Count = 1
    """Steps of a simulated trajectory, from a queue state with the current policy. A mini-batch has
    as many simulated transitions as before, of fewer trajectories."""
    model: _Model | None = field(default=None, metadata={"otherwise": "true"})
    """The model: "true" (the environment's own dynamics), "learned" (online), "ensemble" (several
    learned models), or module:Class. If unset: true for built-in environments, learned for those of
    Gymnasium."""
    model_termination: _Termination | None = field(default=None, metadata={"otherwise": "known"})
    """Models learned and ensemble only: whether termination is "known" or "learned" as well. If
    unset: known for built-in environments, learned for those of Gymnasium."""
    model_learning_rate: NotNegative = 1e-4
    """The learning rate of the models learned and ensemble."""
    model_hidden: Widths = (64, 64)
    """Widths of the ReLU layers of the models learned and ensemble."""
    model_updates: Count = 1
    """Updates per environment step of a model that learns, each with its own mini-batch."""
    ensemble_size: Annotated[int, integer(2)] = 5
    """The number of members of the model ensemble."""
    ensemble_outcome: Annotated[str, one_of("mean", "member")] = "mean"
    """The outcome of the model ensemble: the "mean" of its members, or that of a random
    "member"."""
    frequency_probability: Share = 0.5
    """The probability that a climb follows the local frequency rather than the value (p)."""
    frequency_network: Annotated[str, one_of("online", "target")] = "online"
    """The network whose local frequency is climbed: "online" or "target"."""
    gradient_weight: NotNegative = 1.0
    """The weight of the squared gradient norm in the local frequency (eta_1)."""
    hessian_weight: NotNegative = 1.0
    """The weight of the squared Hessian norm in the local frequency (eta_2)."""
    climb_step_size: NotNegative = 0.01
    """The length of a climbing step (alpha); with td-climb, the square of a typical step in units
    of the spread of the visited states."""
    climb_noise: NotNegative = 0.01
    """The scale of the climbing noise (eta)."""
    climb_noise_scales: Annotated[str, one_of("variance", "deviation")] = "variance"
    """Whether climb_noise scales the "variance" (as in the paper) or the "deviation" of the
    noise."""
    climb_preconditioner: Annotated[str, one_of("covariance", "identity")] = "covariance"
    """The matrix that multiplies gradients: the empirical "covariance", or the "identity"."""
    climb_boundary: Annotated[str, one_of("restart", "project")] = "restart"
    """When a climb leaves the state space, "restart" it or "project" it back."""
    climb_keep_terminal: Flag = False
    """Whether terminal states may be added to the queue."""
    climb_noise_on_start: Flag = False
    """Whether noise as that of a climbing step is added to the state from which a climb starts."""
    climb_restart_when_stuck: Flag = False
    """Whether a climb restarts after a step shorter than 1e-5, noise and projection included."""
    climb_restart_rule: Annotated[str, one_of("new", "previous")] = "new"
    """Search-controls that climb g or V: whether a climb restarts in a state sampled for its "new"
    rule, or for the "previous" climb's."""
    climb_vanishing: Annotated[str, one_of("sum", "each_term")] = "sum"
    """Whether the gradient of g counts as zero if it is shorter than 1e-5 as a whole ("sum"), or
    "each_term" of it separately."""
    climb_limit: Count = 200
    """The maximum number of climbing iterations per step."""
    climb_iterations: Count = 10
    """Search-controls parallel-frequency and td-climb: moves of each climber per step."""
    climb_persistent: Flag = False
    """The same: whether climbers continue at the next step from where they were."""
    reward_noise: NotNegative = 0.0
    """The standard deviation of Gaussian noise on rewards (sigma)."""
    goal_reward: Number | None = None
    """The reward of the step that reaches the goal. If unset: the environment's own."""
    walls_in_state_space: Flag | None = None
    """GridWorld, MazeGridWorld and TubeGridWorld only: whether the insides of walls belong to the
    state space, so that climbs and samples are bounded by the square alone. If unset: no."""
    collision: Annotated[str, one_of("segment", "end_point")] | None = None
    """GridWorld, MazeGridWorld and TubeGridWorld only: whether a wall refuses a move that
    intersects it ("segment"), or one that ends inside it ("end_point"). If unset: segment."""
    episode_limit: Count | None = field(default=None, metadata={"otherwise": 2000})
    """The number of steps after which an episode is truncated, which is not a termination. If
    unset: the environment's own limit, or 2000 if it has none."""
    scale_observations: Flag | None = field(default=None, metadata={"otherwise": True})
    """Whether the network, and a model that is learned or an ensemble, see scaled observations:
    coordinates with known bounds in [-1, 1], the others by the running mean and standard deviation
    of the visited states. If unset: yes with discrete actions, no with continuous ones."""
    eval_every: Count = 500
    """Environment steps between evaluations."""
    eval_episodes: Count = 1
    """Episodes per evaluation of a seed."""
    eval_exploration: Share | None = field(default=None, metadata={"otherwise": 0.05})
    """Like exploration, for evaluations. If unset: 0.05, or 0 with continuous actions."""
    snapshot_steps: Steps = ()
    """Steps after which the replay buffer, the queue, V and g are recorded, for `freqdyna plot
    --what`."""
    devices: Count | None = None
    """The number of devices that share the seeds. If unset: all accelerators, or all CPU cores."""

    def __post_init__(self) -> None:
        for name, (check, may_be_unset) in checks_of(Config).items():
            value = plain(getattr(self, name))
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
    def agent_name(self) -> str:
        """The algorithm, with its search-control if that was chosen, such as "dyna (td-error)"."""
        chosen = self.search_control
        return self.algorithm if chosen is None else f"{self.algorithm} ({chosen})"

    @property
    def env_name(self) -> str:
        """The environment, with what changes its task, such as "MountainCar-v0 (200 steps)".

        That is an episode limit other than that of the built-in environment of this name, and the
        arguments of the environment.
        """
        usual, limit = EPISODE_LIMITS.get(self.env), self.episode_limit
        changed = [f"{limit} steps"] if None not in (usual, limit) and limit != usual else []
        changed += sorted(self.env_kwargs)
        return f"{self.env} ({', '.join(changed)})" if changed else self.env

    @property
    def is_complete(self) -> bool:
        """Whether all settings that depend on the environment are set."""
        return all(getattr(self, name) is not None for name in decided_by_environment())

    def decided(self, name: str) -> Any:
        """The value of a setting that depends on the environment.

        Raises:
            FreqdynaError: If it is unset.

        """
        value = getattr(self, name)
        require(name, value, value is not None, "set, or resolved with an environment")
        return value

    def resolved(self, defaults: Mapping[str, Any] | None = None) -> "Config":
        """Fill in the settings that are unset, with the defaults of the environment."""
        decided = {**decided_by_environment(), **(defaults or {})}
        unset = [name for name in decided_by_environment() if getattr(self, name) is None]
        return replace(self, **{name: decided[name] for name in unset})

    def to_toml(self) -> str:
        """All settings that are not None as TOML."""
        lines = [f"{k} = {toml_value(v)}" for k, v in asdict(self).items() if v is not None]
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Write all settings that are not None as TOML."""
        write_atomically(path, self.to_toml().encode())

    @staticmethod
    def load(path: Path) -> "Config":
        """Read settings from a TOML file; those that it omits have their defaults."""
        return Config.of(read_settings(path))

    @staticmethod
    def of(settings: Mapping[str, Any], preset: str | None = None) -> "Config":
        """The configuration with these settings.

        Args:
            settings: Settings by name, which take precedence over all others.
            preset: The name of a preset.

        Raises:
            FreqdynaError: If a name is unknown or a value is invalid.

        """
        known = [field.name for field in fields(Config)]
        for name in settings:
            if name in ALIASES:
                raise FreqdynaError(f"unknown setting {name!r}; here it is {ALIASES[name]!r}")
            if name not in known:
                raise unknown_name("setting", name, known)
        given = {k: from_toml(Config, k, v) for k, v in settings.items()}
        defaults: dict[str, Any] = {}
        if preset is not None:
            env, algorithm = (given.get(k, getattr(Config, k)) for k in ("env", "algorithm"))
            algorithm = known_algorithm(algorithm)
            defaults = preset_settings(preset, env, algorithm)
        return Config(**defaults | given)


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, not validated."""
    return parse_toml(read_text(Path(path), "configuration file"), str(path))


@cache
def decided_by_environment() -> Mapping[str, Any]:
    """The settings whose default depends on the environment, with the fallback for each."""
    return types.MappingProxyType(
        {f.name: f.metadata["otherwise"] for f in fields(Config) if "otherwise" in f.metadata}
    )
