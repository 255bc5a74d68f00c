"""Gymnasium environments, stepped in Python: their spaces, and a slot for each seed."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

import equinox as eqx
import gymnasium
import numpy as np
from gymnasium import spaces

from freqdyna.core.errors import FreqdynaError, installing, note_where, one_line, raised_line
from freqdyna.envs.space import NO_ACTIONS, Factory, Space

LARGE_REWARD = 30.0
"""Learning is slower if typical rewards are larger: `benchmarks/reward_units.py`."""
HostAction = np.ndarray | np.generic
"""The index of a discrete action, or the values of continuous ones, shape (a,)."""

EPISODE_LIMIT = 2000
"""The episode limit if neither the environment nor the user sets one."""
UNBOUNDED = 1e6
"""Larger bounds are treated as infinite: some spaces use the largest float for infinity."""
TRAINING, EVALUATION, _, WATCHING = range(4)
"""Independent streams of episode seeds."""
GREATEST = float(np.finfo(np.float32).max)


class HostSpace(Space):
    """The space of an environment that is stepped in Python."""

    on_host: ClassVar[bool] = True
    observation_space: spaces.Box = eqx.field(static=True)
    action_space: spaces.Discrete[Any] | spaces.Box = eqx.field(static=True)
    label: str = eqx.field(static=True)
    episode_limit: int = eqx.field(static=True)
    """Steps after which an episode is truncated; the environment may truncate it earlier."""

    @property
    def name(self) -> str:
        """The environment's id, or the name of its class."""
        return self.label

    @property
    def low(self) -> np.ndarray:
        """The lower bounds of the observation space; −∞ where it has none."""
        bounds = self.observation_space.low.astype(np.float32)
        return np.where(bounds < -UNBOUNDED, -np.inf, bounds).astype(np.float32)

    @property
    def high(self) -> np.ndarray:
        """The upper bounds of the observation space; ∞ where it has none."""
        bounds = self.observation_space.high.astype(np.float32)
        return np.where(bounds > UNBOUNDED, np.inf, bounds).astype(np.float32)

    @property
    def num_actions(self) -> int:
        """The number of discrete actions; 0 if actions are continuous."""
        space = self.action_space
        return int(space.n) if isinstance(space, spaces.Discrete) else 0

    @property
    def action_low(self) -> np.ndarray:
        """The lower bound of each continuous action, shape (a,)."""
        space = self.action_space
        return space.low.astype(np.float32) if isinstance(space, spaces.Box) else NO_ACTIONS

    @property
    def action_high(self) -> np.ndarray:
        """The upper bound of each continuous action, shape (a,)."""
        space = self.action_space
        return space.high.astype(np.float32) if isinstance(space, spaces.Box) else NO_ACTIONS

    def random_action(self) -> np.ndarray:
        """A random action of the agent, sampled from the seeded action space."""
        space = self.action_space
        drawn = space.sample()
        return np.asarray(drawn - space.start if isinstance(space, spaces.Discrete) else drawn)

    def to_env_action(self, action: HostAction) -> Any:
        """The action in the form that the environment's `step` expects."""
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return int(np.ravel(action)[0]) + int(space.start)
        if np.issubdtype(space.dtype, np.integer):
            action = np.rint(action)
        return np.clip(action, space.low, space.high).astype(space.dtype)


def space_of(env: "gymnasium.Env[Any, Any]", episode_limit: int | None = None) -> HostSpace:
    """The space of a Gymnasium environment; an error if it is not supported."""
    spec = env.spec
    name = type(env.unwrapped).__name__ if spec is None else spec.id
    observations = getattr(env, "observation_space", None)
    actions = getattr(env, "action_space", None)
    if not _is_vector(observations):
        raise FreqdynaError(
            f"the observation space of {name!r} is {observations}; it must be a one-dimensional "
            "Box: gymnasium.wrappers.FlattenObservation converts many other spaces"
        )
    if not isinstance(actions, spaces.Discrete) and not (
        _is_vector(actions)
        and np.abs([actions.low, actions.high]).max() <= UNBOUNDED
        and (actions.high > actions.low).all()
    ):
        raise FreqdynaError(
            f"the action space of {name!r} is {actions}; it must be Discrete, or a one-dimensional "
            "Box with finite bounds, the upper greater than the lower ones"
        )
    limit = episode_limit or (spec and spec.max_episode_steps) or EPISODE_LIMIT
    return HostSpace(observations, actions, name, limit)


def doubts(
    space: HostSpace,
    states: np.ndarray,
    rewards: np.ndarray,
    terminal: np.ndarray,
    over: np.ndarray,
) -> list[str]:
    """What looks wrong in some steps: states of shape (k, n), and what was returned with them."""
    low, high = space.observation_space.low, space.observation_space.high
    outside, sentences = np.maximum(low - states, states - high), []
    for i, row in enumerate(outside.argmax(axis=0)):
        value = states[row, i]
        if outside[row, i] > 1e-3 * (1 + abs(value)):  # more than rounding
            bounds = f"{low[i]:g} and {high[i]:g}"
            sentences.append(f"observation {i} was {value:g}, outside its bounds {bounds}")
    sizes = np.abs(rewards[rewards != 0])
    typical = float(np.median(sizes)) if len(sizes) else 0.0
    if space.num_actions and typical > LARGE_REWARD:  # SAC has no unit of rewards
        sentences.append(f"a typical reward has the size {typical:g}; divide them, to be near 1")
    lengths = np.diff(np.flatnonzero(over), prepend=-1)
    if len(lengths) > 1 and (lengths == lengths[0]).all() and terminal[over].all():
        sentences.append(
            f"every episode terminated after {lengths[0]} steps; if that is a time limit, it must "
            "be truncation"
        )
    if not len(lengths) and space.episode_limit == EPISODE_LIMIT:
        sentences.append(
            f"no episode ended in {len(rewards)} steps; without a time limit, they are truncated "
            f"after {EPISODE_LIMIT:,}"
        )
    return sentences


def _is_vector(space: Any) -> TypeGuard[spaces.Box]:
    return isinstance(space, spaces.Box) and len(space.shape) == 1 and space.shape[0] > 0


def factory_of(env: Any) -> Factory:
    """A function that creates a new environment at each call: `env` itself, or copies of it."""
    if not isinstance(env, gymnasium.Env):
        if not callable(env):
            raise FreqdynaError(
                f"env is {type(env).__name__}; it must be a name, an Environment, a single "
                "gymnasium.Env, or a function that creates one"
            )
        return env
    spec, example = env.spec, env

    def another() -> "gymnasium.Env[Any, Any]":
        try:
            return copy.deepcopy(example)  # with its wrappers, and all changes since its creation
        except Exception as error:
            if spec is not None:
                return gymnasium.make(spec)
            raise FreqdynaError(
                f"env is an object that cannot be copied ({error}); pass a function that creates it"
            ) from error

    return another


class ClosingFactory:
    """A factory that can close all environments that it created."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._open: list[Any] = []

    def __call__(self) -> Any:
        """Create another environment."""
        self._open.append(self._factory())
        return self._open[-1]

    def close(self) -> None:
        """Close all environments; errors while closing are ignored."""
        for env in self._open:
            close_env(env)
        self._open.clear()


def make_env(factory: Factory) -> "gymnasium.Env[Any, Any]":
    """Create a new environment; an error in the user's code keeps its traceback."""
    try:
        with note_where("freqdyna was creating env, which must return a gymnasium.Env"):
            env = factory()
    except gymnasium.error.DependencyNotInstalled as error:
        extra = next((name for name in ("box2d", "mujoco") if name in str(error).lower()), None)
        needed = installing(extra) if extra else one_line(error)
        raise FreqdynaError(f"this environment needs a package: {needed}") from None
    if not isinstance(env, gymnasium.Env):
        raise FreqdynaError(f"env returned {type(env).__name__}; it must be a gymnasium.Env")
    return env


def close_env(env: Any) -> None:
    """Close an environment; whatever its `close` raises is ignored, because it is not needed."""
    with suppress(Exception, SystemExit):
        env.close()


@dataclass(frozen=True)
class Failure:
    """Why a seed stopped early."""

    step: int
    reason: str
    error: Exception | None = None
    """What the environment raised, if it did."""


class EnvironmentFailed(Exception):
    """The user's environment raised an error, or returned something invalid."""

    def __init__(self, reason: str, raised: BaseException | None = None) -> None:
        super().__init__(reason)
        self.raised = raised if isinstance(raised, Exception) else None


@contextmanager
def _failing(method: str) -> Iterator[None]:
    """Whatever the user's method raises is a failure of the environment."""
    try:
        yield
    except (Exception, SystemExit) as error:  # sys.exit must end this seed only
        reason = f"{method} raised {one_line(error)} ({raised_line(error)})"
        raise EnvironmentFailed(reason, error) from error


@dataclass
class Slot:
    """One environment and the progress of its current episode."""

    env: "gymnasium.Env[Any, Any]"
    space: HostSpace
    seed: int
    stream: int
    episode: int = -1
    """The number of episodes before this one."""
    length: int = 0

    def __post_init__(self) -> None:
        # Equinox creates an object whenever a method of a module is accessed.
        self._to_env_action = self.space.to_env_action
        self._shape = self.space.observation_space.shape
        self._episode_limit = self.space.episode_limit

    def begin(self, episode: int) -> np.ndarray:
        """Start an episode, whose seed depends only on this seed and the episode's number.

        Returns its first state, shape (n,).
        """
        self.episode, self.length = episode, 0
        entropy = np.random.SeedSequence([self.seed, self.stream, episode])
        with _failing("reset"):
            outcome = self.env.reset(seed=int(entropy.generate_state(1)[0]))
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            raise EnvironmentFailed("reset did not return (observation, info)")
        return self._checked(outcome[0])

    def step(self, action: HostAction) -> tuple[np.ndarray, float, bool, bool]:
        """The next state, the reward, whether that state is terminal, and whether it is the last.

        The last state of an episode may be terminal or truncated.
        """
        with _failing("step"):
            outcome = self.env.step(self._to_env_action(action))
        try:
            observation, reward, terminal, truncated, _ = outcome
            reward, terminal, truncated = float(reward), bool(terminal), bool(truncated)
        except Exception as error:
            raise EnvironmentFailed(
                "step did not return (observation, reward, terminated, truncated, info): "
                + one_line(error)
            ) from error
        self.length += 1
        if not abs(reward) <= GREATEST:
            raise EnvironmentFailed(
                f"step returned the reward {reward}, in step {self.length} of an episode"
            )
        over = terminal or truncated or self.length >= self._episode_limit
        return self._checked(observation), reward, terminal, over

    def _checked(self, observation: Any) -> np.ndarray:
        try:
            array = np.asarray(observation, np.float32)
        except Exception as error:
            raise EnvironmentFailed(f"an observation is not an array: {one_line(error)}") from error
        if array.shape != self._shape:
            raise EnvironmentFailed(
                f"an observation has the shape {array.shape}, observation_space {self._shape}"
            )
        if not np.isfinite(array).all():
            raise EnvironmentFailed(f"an observation is not finite: {array}")
        return array


class HostEnvs:
    """The training environments of several seeds.

    A seed whose environment fails is skipped from then on; the others continue. The actions of the
    current episodes are recorded, so that a resumed run can replay them and reach the same states.
    """

    def __init__(self, factory: Factory, space: HostSpace, seeds: np.ndarray) -> None:
        self.space = space
        self.slots = [Slot(make_env(factory), space, int(seed), TRAINING) for seed in seeds]
        self.failures: dict[int, Failure] = {}
        """By the index of the seed."""
        self.actions = np.zeros((len(seeds), space.episode_limit, space.action_size), np.float32)
        """The actions of the current episodes."""

    def begin(self) -> np.ndarray:
        """Start the first episode of every seed; returns the states, shape (seeds, n)."""
        return np.stack([self._begin(row, 0, 0) for row in range(len(self.slots))])

    def step(self, actions: np.ndarray, t: int) -> dict[str, np.ndarray]:
        """Take one step in every environment, after `t` steps.

        Actions have shape (seeds,) or (seeds, a). Returns the fields of an `Experience` by name,
        with the seeds as first axis.
        """
        count, n = len(self.slots), self.space.observation_size
        reward = np.zeros(count, np.float32)
        terminal, over = np.zeros(count, bool), np.zeros(count, bool)
        next_state, observation = np.zeros((count, n), np.float32), np.zeros((count, n), np.float32)
        for row, slot in enumerate(self.slots):
            if row in self.failures:
                continue
            self.actions[row, slot.length] = actions[row]
            try:
                next_state[row], reward[row], terminal[row], over[row] = slot.step(actions[row])
            except EnvironmentFailed as error:
                self.failures[row] = Failure(t + 1, str(error), error.raised)
                continue
            new = over[row]
            observation[row] = self._begin(row, slot.episode + 1, t) if new else next_state[row]
        return {
            "reward": reward,
            "next_state": next_state,
            "terminal": terminal,
            "over": over,
            "observation": observation,
        }

    def memory(self) -> dict[str, np.ndarray]:
        """Everything that `restore` needs, with the seeds as first axis."""
        return {
            "episode": np.array([slot.episode for slot in self.slots], np.int32),
            "length": np.array([slot.length for slot in self.slots], np.int32),
            "actions": self.actions,
        }

    def restore(self, memory: dict[str, np.ndarray], failures: dict[int, Failure]) -> np.ndarray:
        """Restart the current episodes and replay their actions; returns the states, (seeds, n)."""
        self.failures = dict(failures)
        self.actions = np.array(memory["actions"])
        reached = np.zeros((len(self.slots), self.space.observation_size), np.float32)
        for row, slot in enumerate(self.slots):
            if row in self.failures:
                continue
            try:
                reached[row] = slot.begin(int(memory["episode"][row]))
                for action in self.actions[row, : memory["length"][row]]:
                    reached[row] = slot.step(action)[0]
            except EnvironmentFailed as error:
                self.failures[row] = Failure(0, f"while resuming, {error}", error.raised)
        return reached

    def restart_episode(self, row: int, t: int) -> np.ndarray:
        """Start a new episode for one seed; returns its first state, shape (n,)."""
        return self._begin(row, self.slots[row].episode + 1, t)

    def _begin(self, row: int, episode: int, t: int) -> np.ndarray:
        try:
            return self.slots[row].begin(episode)
        except EnvironmentFailed as error:
            self.failures[row] = Failure(t, str(error), error.raised)
            return np.zeros(self.space.observation_size, np.float32)
