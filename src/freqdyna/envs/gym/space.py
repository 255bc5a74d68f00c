"""The space of a Gymnasium environment: which ones are supported, and conversions to ours."""

import contextlib
import copy
from typing import Any, ClassVar, TypeGuard

import equinox as eqx
import gymnasium
import numpy as np
from gymnasium import spaces

from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import NO_ACTIONS, Factory, Space

HostAction = np.ndarray | np.generic
"""The index of a discrete action, or the values of continuous ones, shape (a,)."""

EPISODE_LIMIT = 2000
"""The episode limit if neither the environment nor the user sets one."""
UNBOUNDED = 1e6
"""Larger bounds are treated as infinite: some spaces use the largest float for infinity."""


class HostSpace(Space):
    """The space of an environment that is stepped in Python."""

    on_host: ClassVar[bool] = True
    observation_space: spaces.Box = eqx.field(static=True)
    action_space: spaces.Discrete[Any] | spaces.Box = eqx.field(static=True)
    label: str = eqx.field(static=True)
    episode_limit: int = eqx.field(static=True)
    """Steps after which an episode is truncated; the environment's own limit may be lower."""

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

    def to_agent(self, observation: Any) -> np.ndarray:
        """The observation as an array, shape (n,)."""
        return np.asarray(observation, np.float32)

    def to_env_action(self, action: HostAction) -> Any:
        """The action in the form that the environment's `step` expects."""
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return int(np.ravel(action)[0]) + int(space.start)
        return np.clip(action, space.low, space.high).astype(space.dtype)


def space_of(env: "gymnasium.Env[Any, Any]", episode_limit: int | None = None) -> HostSpace:
    """The space of a Gymnasium environment.

    Args:
        env: The environment.
        episode_limit: The number of steps after which episodes are truncated; None for the default.

    Raises:
        FreqdynaError: If the observation space or the action space is not supported.

    """
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    seen, acted = (getattr(env, space, None) for space in ("observation_space", "action_space"))
    if not isinstance(seen, spaces.Box) or len(seen.shape) != 1 or not seen.shape[0]:
        raise FreqdynaError(
            f"the observations of {name!r} are {_words(seen)}; they must be a one-dimensional Box: "
            "gymnasium.wrappers.FlattenObservation converts many other spaces"
        )
    if not isinstance(acted, spaces.Discrete) and not _is_supported_box(acted):
        raise FreqdynaError(
            f"the actions of {name!r} are {_words(acted)}; they must be Discrete, or a "
            "one-dimensional Box with finite bounds, the upper greater than the lower ones"
        )
    own_limit = env.spec.max_episode_steps if env.spec is not None else None
    limit = episode_limit or own_limit or EPISODE_LIMIT
    return HostSpace(seen, acted, name, limit)


def _is_supported_box(space: Any) -> TypeGuard[spaces.Box]:
    """Whether this space of continuous actions is supported."""
    if not isinstance(space, spaces.Box) or len(space.shape) != 1 or not space.shape[0]:
        return False
    finite = np.abs([space.low, space.high]).max() <= UNBOUNDED
    return bool(finite and (space.high > space.low).all())


def factory_of(env: Any, **options: Any) -> Factory:
    """A function that creates a new environment at each call.

    Args:
        env: The id of a registered environment, an environment to copy, or such a function.
        **options: Passed to `gymnasium.make` with an id.

    Raises:
        FreqdynaError: If it is none of these.

    """
    if isinstance(env, str):
        return lambda: gymnasium.make(env, **options)
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise FreqdynaError(
            f"env is {type(env).__name__}, a vector environment; it must be a single environment, "
            "such as gymnasium.make(...), of which every seed gets its own copy"
        )
    if not isinstance(env, gymnasium.Env):
        if not callable(env):
            raise FreqdynaError(
                f"env is {type(env).__name__}; it must be a name, an Environment, a gymnasium.Env, "
                "or a function that creates one"
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
        env = factory()
    except Exception as error:
        if not isinstance(error, FreqdynaError):
            error.add_note("freqdyna was creating env, which must return a gymnasium.Env")
        raise
    if not isinstance(env, gymnasium.Env):
        raise FreqdynaError(f"env returned {type(env).__name__}; it must be a gymnasium.Env")
    return env


def close_env(env: Any) -> None:
    """Close an environment; whatever its `close` raises is ignored, because it is not needed."""
    with contextlib.suppress(Exception, SystemExit):
        env.close()


def _words(space: Any) -> str:
    if space is None:
        return "not given"
    shape = f" of shape {space.shape}" if isinstance(space, spaces.Box) else ""
    return f"{type(space).__name__}{shape}"
