"""The environment of a run, found by name or passed in Python, and its effect on the settings."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from freqdyna import envs
from freqdyna.config import Config
from freqdyna.config.checks import keywords
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.plugins import describe, module_of
from freqdyna.envs import Environment
from freqdyna.envs.space import Factory, Space

OF_ENVIRONMENT = (
    *("reward_noise", "goal_reward", "episode_limit"),
    *("walls_in_state_space", "collision"),
)
"""The settings that are fields of a built-in environment, if it has them."""


def named_environment(
    config: Config, facts: Mapping[str, Any] | None = None
) -> Environment | Factory:
    """The environment that `config.env` names: a built-in one, or a factory of Gymnasium's.

    Args:
        config: The settings.
        facts: The provenance of the run if it is stored, otherwise None. A run that was started
            in Gymnasium's environment stays there, even if one of that name is built in by now.

    """
    arguments = keywords(config.env_kwargs)
    was_on_host = facts is not None and "environment_given" in facts
    if config.env not in envs.ENVIRONMENTS or was_on_host:
        return envs.gymnasium_factory(config.env, **arguments)
    known = [field.name for field in dataclasses.fields(envs.ENVIRONMENTS[config.env])]
    accepted = [name for name in known if name not in OF_ENVIRONMENT]
    for name in arguments:
        if name in OF_ENVIRONMENT:
            raise FreqdynaError(f"env_kwargs has {name}, which is a setting of its own; set that")
        if not accepted:
            raise FreqdynaError(f"env_kwargs has {name}, but {config.env} has no arguments")
        if name not in accepted:
            raise unknown_name(f"argument of {config.env}", name, accepted)
    settings = {name: getattr(config, name) for name in OF_ENVIRONMENT}
    given = {name: value for name, value in settings.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            raise FreqdynaError(
                f"{name} is {value!r}, but {config.env} does not have that setting; omit it"
            )
    return envs.make(config.env, **given, **arguments)


def resolved(config: Config, space: Space) -> Config:
    """Complete settings: unset ones get the defaults of the environment."""
    ours = envs.ENVIRONMENTS.get(config.env)  # Gymnasium's MountainCar-v0 is the same as ours
    settings = {**(ours.own_settings if ours else {}), **space.default_settings}
    return config.resolved(settings)


def resolved_by_name(config: Config) -> Config:
    """Like `resolved`, for built-in environments; others are not known before they are created."""
    if config.env not in envs.ENVIRONMENTS:
        return config
    return resolved(config, envs.make(config.env))


def needs_env_argument(config: Config, facts: dict[str, Any]) -> bool:
    """Whether a run can only be resumed if its environment is passed again.

    A Gymnasium environment that was created in Python may share its name with a different one: it
    may be wrapped, for example, or have other arguments.
    """
    return bool(facts.get("environment_given")) or not envs.is_known(config.env)


def environment_of_run(
    config: Config, env: Any, facts: dict[str, Any], instead: str
) -> Environment | Factory:
    """The environment of a stored run.

    Args:
        config: The settings of the run.
        env: An environment, a factory or None; if None, the environment is found by its name.
        facts: The provenance of the run.
        instead: What the error message tells the user to do if `env` is needed but None.

    """
    if isinstance(env, Environment):
        return env
    if env is not None:
        from freqdyna.envs.gym.space import factory_of

        return factory_of(env)
    if not facts.get("environment_given") and module_of(config.env) is not None:
        return named_environment(config, facts)
    if needs_env_argument(config, facts):
        raise FreqdynaError(
            f"this run's environment {config.env!r} was passed in Python; {instead}"
        )
    return named_environment(config, facts)


def check_same_environment(space: Space, facts: dict[str, Any]) -> None:
    """Raise an error if the run was started with another environment, as far as that is known."""
    theirs = facts.get("environment")
    if theirs not in (None, "", describe(space)):
        raise FreqdynaError(
            f"env is {space!r}, but this run was started with {theirs}; pass that one"
        )


def space_of_run(env: Environment | Factory, config: Config) -> Space:
    """What the agent knows about its environment."""
    if isinstance(env, Environment):
        return env
    from freqdyna.envs.gym.space import close_env, make_env, space_of

    for name in OF_ENVIRONMENT:
        given = getattr(config, name)
        if name != "episode_limit" and given != getattr(Config, name):
            raise FreqdynaError(f"{name} is {given}; only built-in environments have that setting")
    example = make_env(env)
    try:
        return space_of(example, config.episode_limit)
    finally:
        close_env(example)
