"""The environment of a run, found by name or passed in Python."""

from collections.abc import Mapping
from typing import Any

from freqdyna import envs
from freqdyna.config import Config, create, settings_of
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import describe, module_of
from freqdyna.envs import Environment
from freqdyna.envs.space import Factory, Space


def named_environment(
    config: Config, facts: Mapping[str, Any] | None = None
) -> Environment | Factory:
    """The environment that `config.env` names: a built-in one, or a factory of Gymnasium's.

    Args:
        config: The settings; those of Gymnasium's environments are passed to `gymnasium.make`.
        facts: The provenance of the run if it is stored, otherwise None. A run that was started
            in Gymnasium's environment stays there, even if one of that name is built in by now.

    """
    settings = config.of_component("env")
    was_on_host = facts is not None and "environment_given" in facts
    if config.env in envs.ENVIRONMENTS and not was_on_host:
        built_in: Environment = create("env", envs.ENVIRONMENTS[config.env], settings)
        return built_in
    settings.pop("episode_limit", None)
    return envs.gymnasium_factory(config.env, **settings)


def env_label(config: Config) -> str:
    """The environment, with what changes its task, such as "MountainCar-v0 (200 steps)".

    That are the settings other than the defaults of a built-in environment, and the arguments of
    other environments.
    """
    kind = envs.ENVIRONMENTS.get(config.env)
    usual = {} if kind is None else {n: s.default for n, s in settings_of(kind).items()}
    settings = config.of_component("env")
    limit = settings.pop("episode_limit", None)
    is_usual = kind is None or limit in (None, usual["episode_limit"])
    changed = [] if is_usual else [f"{limit} steps"]
    changed += sorted(f"{n}={value}" for n, value in settings.items() if value != usual.get(n))
    return f"{config.env} ({', '.join(changed)})" if changed else config.env


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

    example = make_env(env)
    try:
        return space_of(example, config.get("env.episode_limit"))
    finally:
        close_env(example)
