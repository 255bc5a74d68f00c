"""Which environment is meant: a built-in one, Gymnasium's, or one that a module registers.

Built-in environments are decorated with `@built_in`. Those that Gymnasium lacks have an id there,
for Stable-Baselines3 and other libraries:

    gymnasium.make("freqdyna.envs:freqdyna/MazeGridWorld-v0")
"""

import difflib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import gymnasium
import jax
import numpy as np

from freqdyna.config import Config, create, settings_of
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.plugins import Registry, module_of, require_allowed
from freqdyna.envs.base import Environment
from freqdyna.envs.gym import close_env, factory_of, make_env, space_of
from freqdyna.envs.space import Factory, Space


class Environments(Registry[Environment]):
    """Compiled environments: the built-in ones, and `module:Class` of imported modules."""

    def __contains__(self, name: object) -> bool:
        """Whether a name is that of a class, and not of an environment of Gymnasium."""
        return super().__contains__(name) or self._imported(str(name)) is not None

    def __missing__(self, name: str) -> type[Environment]:
        """The class of a name that is not built in."""
        kind = self._imported(name)
        if kind is None:
            raise KeyError(name)
        return kind

    def get(self, name: str, default: Any = None) -> Any:
        """The class of a name, or `default`."""
        return self[name] if name in self else default  # noqa: SIM401 - dict.get ignores __missing__

    @staticmethod
    def _imported(name: str) -> type[Environment] | None:
        module, _, attribute = name.rpartition(":")
        kind = getattr(sys.modules.get(module), attribute, None)
        return kind if isinstance(kind, type) and issubclass(kind, Environment) else None


ENVIRONMENTS = Environments("env", Environment)
"""The compiled environments by name."""

Kind = TypeVar("Kind", bound=type[Environment])


def built_in(kind: Kind) -> Kind:
    """A class decorator: make an environment available by its name, also in Gymnasium."""
    ENVIRONMENTS.register(kind.name)(kind)
    if kind.name not in gymnasium.registry:
        gymnasium.register(
            id=f"freqdyna/{kind.name}-v0",
            entry_point=f"{__name__}:GymnasiumEnv",
            kwargs={"name": kind.name},
            max_episode_steps=settings_of(kind)["episode_limit"].default,
        )
    return kind


def make(name: str, **settings: Any) -> Environment:
    """Create a built-in environment.

    Args:
        name: One of `ENVIRONMENTS`, such as "MountainCar-v0".
        **settings: Fields of its class, such as `reward_noise=0.1`.

    """
    if name not in ENVIRONMENTS:
        raise unknown_name("environment", name, ENVIRONMENTS)
    environment: Environment = create("env", ENVIRONMENTS[name], settings)
    return environment


def gymnasium_factory(name: str, **options: Any) -> Factory:
    """A function that creates an environment of Gymnasium with `gymnasium.make` and its options.

    The name is an id such as "Hopper-v5", or `module:id` if the module, which registers it, is
    imported; or `module:Class`.
    """
    require_allowed("env", name)
    module, registered = module_of(name), name.rpartition(":")[2]
    kind = module and getattr(sys.modules[module], registered, None)
    if isinstance(kind, type) and issubclass(kind, gymnasium.Env):
        return _created(kind, options)
    try:
        gymnasium.spec(registered)
    except gymnasium.error.Error:
        near = difflib.get_close_matches(registered, gymnasium.registry, n=5)
        known = dict.fromkeys([*_classes(module), *near, *ENVIRONMENTS])
        hint = f"in module:{registered}, the module must register it, or define such a class"
        raise FreqdynaError(f"{unknown_name('environment', name, known)}; {hint}") from None
    return _created(partial(gymnasium.make, registered), options)


def _classes(module: str | None) -> list[str]:
    """The environments that an imported module defines, as `module:Class`."""
    defined = vars(sys.modules[module]) if module else {}
    return [
        f"{module}:{key}"
        for key, value in defined.items()
        if isinstance(value, type) and issubclass(value, gymnasium.Env | Environment)
        if value.__module__ == module
    ]


def _created(make_one: Callable[..., Any], options: Mapping[str, Any]) -> Factory:
    def create() -> Any:
        try:
            return make_one(**options)
        except TypeError as error:
            if "unexpected keyword argument 'render_mode'" in str(error):
                raise FreqdynaError("its __init__ must take render_mode, as in Gymnasium") from None
            if options and "unexpected keyword argument" in str(error):
                raise FreqdynaError(f"a setting of env is unknown: {error}") from None
            if "required" in str(error):
                error.add_note("Arguments of env are settings, such as --env.size 3.")
            raise

    return create


def environment_of_run(
    config: Config, env: Any = None, facts: Mapping[str, Any] | None = None
) -> Environment | Factory:
    """The environment of a run: `env` if it was passed, otherwise what `config.env` names.

    `env` is an environment of ours or Gymnasium's, a function that creates one, or None; `facts`
    are the provenance of a stored run. The settings of an environment of Gymnasium are passed to
    `gymnasium.make`.
    """
    if isinstance(env, Environment):
        return env
    if isinstance(env, str):
        return environment_of_run(replace(config, env=env))
    if env is not None:
        return factory_of(env)
    if facts and facts.get("environment_given"):
        # It may share its name with a different one: it may be wrapped, or have other arguments.
        raise FreqdynaError(
            f"this run's environment {config.env!r} was passed in Python; pass it again, as env=..."
        )
    settings = config.of_component("env")
    if config.env in ENVIRONMENTS:
        return make(config.env, **settings)
    settings.pop("episode_limit", None)
    return gymnasium_factory(config.env, **settings)


def space_of_run(env: Environment | Factory, config: Config) -> Space:
    """What the agent knows about its environment."""
    if isinstance(env, Environment):
        return env
    example = make_env(env)
    try:
        return space_of(example, config.get("env.episode_limit"))
    finally:
        close_env(example)


def env_label(config: Config) -> str:
    """The environment, with what changes its task, such as "MountainCar-v0 (200 steps)".

    These are settings that differ from the defaults of a built-in environment, and the arguments of
    other environments.
    """
    kind = ENVIRONMENTS.get(config.env)
    usual = {} if kind is None else {n: s.default for n, s in settings_of(kind).items()}
    settings = config.of_component("env")
    limit = settings.pop("episode_limit", None)
    is_usual = kind is None or limit in (None, usual["episode_limit"])
    changed = [] if is_usual else [f"{limit} steps"]
    changed += sorted(f"{n}={value}" for n, value in settings.items() if value != usual.get(n))
    return f"{config.env} ({', '.join(changed)})" if changed else config.env


class GymnasiumEnv(gymnasium.Env[np.ndarray, Any]):
    """A built-in environment with Gymnasium's interface, whose wrapper adds the time limit."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 - Gymnasium's type
    action_space: gymnasium.spaces.Discrete[Any] | gymnasium.spaces.Box

    def __init__(self, name: str, render_mode: str | None = None, **settings: Any) -> None:
        if "episode_limit" in settings:
            raise FreqdynaError("episode_limit is set by Gymnasium; pass max_episode_steps instead")
        if render_mode not in (None, "rgb_array"):
            raise FreqdynaError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")
        env = make(name, **settings)
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(env.low, env.high)
        if env.num_actions:
            self.action_space = gymnasium.spaces.Discrete(env.num_actions)
        else:
            self.action_space = gymnasium.spaces.Box(env.action_low, env.action_high)
        self._painter = env.painter() if render_mode else None
        self._reset = jax.jit(env.reset)
        self._transition = jax.jit(env.transition_from_noise)
        self._noise_size = 1 + env.noise_size
        self._state = np.zeros_like(env.low)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode; see `gymnasium.Env.reset`."""
        super().reset(seed=seed, options=options)
        key = jax.random.key(int(self.np_random.integers(2**31)))
        self._state = np.array(self._reset(key))
        return self._state.copy(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step; the episode is never truncated here."""
        if not self.action_space.contains(action):
            raise FreqdynaError(f"action is {action!r}; it must be in {self.action_space}")
        is_discrete = isinstance(self.action_space, gymnasium.spaces.Discrete)
        taken = np.asarray(action, np.int32 if is_discrete else np.float32)
        noise = self.np_random.standard_normal(self._noise_size, np.float32)
        state, reward, terminal = self._transition(self._state, taken, noise)
        self._state = np.array(state)
        return self._state.copy(), float(reward), bool(terminal), False, {}

    def render(self) -> np.ndarray | None:
        """An image of the state if `render_mode` is "rgb_array", otherwise None."""
        return self._painter.draw(self._state) if self._painter else None
