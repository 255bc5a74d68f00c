"""The environment of a run: found by the name in its configuration, or given in Python.

And what it decides of the run's settings.
"""

from typing import Any

from freqdyna import envs
from freqdyna.config import VERSION, Config, history
from freqdyna.core.description import matches
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import Environment
from freqdyna.envs.space import Factory, Space

_OF_BUILT_IN = ("reward_noise", "goal_reward")


def named_environment(config: Config) -> Environment | Factory:
    """The environment of a name: one of ours, or one that Gymnasium knows."""
    if config.env not in envs.ENVIRONMENTS:
        return envs.gymnasium_factory(config.env)
    names = ("reward_noise", "goal_reward", "episode_limit")
    settings = {name: getattr(config, name) for name in names}
    given = {name: value for name, value in settings.items() if value is not None}
    return envs.make(config.env, **given)


def resolved(config: Config, space: Space, version: str = VERSION) -> Config:
    """The settings of a run, complete: what is unset is as its environment has it.

    Args:
        config: The settings given.
        space: The environment.
        version: The version whose defaults hold.

    """
    ours = envs.ENVIRONMENTS.get(config.env)  # Gymnasium's MountainCar-v0 is the same as ours
    settings = {**(ours.own_settings if ours else {}), **space.default_settings}
    kinds = [] if space.num_actions else [history.CONTINUOUS_ACTIONS]
    kinds += [history.GYMNASIUM] if space.on_host else []
    for where in (*kinds, config.env):
        settings |= history.defaults_before(version, where)
    return config.resolved(settings, version)


def resolved_by_name(config: Config, version: str = VERSION) -> Config:
    """`resolved` for a built-in environment; of others nothing is known before they are made."""
    if config.env not in envs.ENVIRONMENTS:
        return config
    return resolved(config, envs.make(config.env), version)


def needs_env_argument(config: Config, facts: dict[str, Any]) -> bool:
    """Whether a run goes on only with the environment that it was given.

    A Gymnasium environment that was made in Python may have the name of another: wrapped, say, or
    with other arguments.
    """
    return bool(facts.get("environment_given")) or not envs.is_known(config.env)


def environment_of_run(
    config: Config, env: Any, facts: dict[str, Any], instead: str
) -> Environment | Factory:
    """The environment of a run with these `facts`: `env` where one is given, else by its name.

    Where that cannot be, the user is told to do `instead`.
    """
    if isinstance(env, Environment):
        return env
    if env is not None:
        from freqdyna.envs.gym.space import factory_of

        return factory_of(env)
    if needs_env_argument(config, facts):
        raise FreqdynaError(f"this run's environment {config.env!r} was given in Python; {instead}")
    return named_environment(config)


def check_same_environment(space: Space, facts: dict[str, Any]) -> None:
    """Refuse an environment that is not what the run was begun with, as far as that is known."""
    theirs = facts.get("environment")
    if theirs not in (None, "", repr(space)) and not matches(space, theirs):
        raise FreqdynaError(
            f"env is {space!r}, but this run was begun with {theirs}; give that one"
        )


def space_of_run(env: Environment | Factory, config: Config, facts: dict[str, Any]) -> Space:
    """What the agent knows of its environment; `facts` are those of a run that began before."""
    if isinstance(env, Environment):
        if config.normalize:
            raise FreqdynaError(
                f"normalize is True; {env.name} is compiled, and only environments that are "
                "stepped in Python have that setting"
            )
        return env
    from freqdyna.envs.gym.seats import host_space  # Gymnasium is not everywhere

    for name in _OF_BUILT_IN:
        if given := getattr(config, name):
            raise FreqdynaError(f"{name} is {given}; only built-in environments have that setting")
    limit, seed = config.episode_limit, config.first_seed
    return host_space(env, limit, config.normalize, seed, facts.get("scaling"))
