"""The settings of a run that are those of its environment."""

import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.envs.names import named_environment, resolved, space_of_run


def test_settings_of_the_environment_reach_it():
    config = Config.of(
        {"env": {"name": "MazeGridWorld", "collision": "end_point", "walls_in_state_space": True}}
    )
    assert named_environment(config) == envs.make(
        "MazeGridWorld", collision="end_point", walls_in_state_space=True
    )
    assert named_environment(Config(env="MazeGridWorld")) == envs.make("MazeGridWorld")


@pytest.mark.parametrize(
    ("env", "given", "scaled"),
    [
        ("MountainCar-v0", {}, True),
        ("CartPole-v1", {"scale_observations": False}, False),
        ("Pendulum-v1", {}, False),  # continuous actions
        ("Pendulum-v1", {"scale_observations": True}, True),
        ("DynaMaze", {}, False),
    ],
)
def test_observations_are_scaled_with_discrete_actions_unless_set(env, given, scaled):
    config = resolved(Config.of({"env": env, **given}), envs.make(env))
    assert config.scale_observations is scaled


@pytest.mark.parametrize("preset", ["paper", "published"])
def test_presets_of_the_paper_do_not_scale_observations(preset):
    config = Config.of({"env": "MountainCar-v0"}, preset)
    assert resolved(config, envs.make("MountainCar-v0")).scale_observations is False


@pytest.mark.parametrize(
    "given", [{"env.collision": "segment"}, {"env.walls_in_state_space": False}]
)
def test_environments_without_walls_have_no_settings_of_walls(given):
    ((name, value),) = given.items()
    message = f"{name} is {value!r}, but CartPole-v1 does not have that setting; omit it"
    with pytest.raises(FreqdynaError, match=message):
        named_environment(Config.of({"env": "CartPole-v1", **given}))
    message = f"{name} is {value}; only built-in environments have that setting"
    with pytest.raises(FreqdynaError, match=message):
        space_of_run(lambda: None, Config.of({"env": "MountainCarContinuous-v0", **given}))


def test_arguments_of_the_environment_reach_it():
    config = Config.of({"env": "Pendulum-v1", "env": {"name": "Pendulum-v1", **{"g": 3.0}}})
    assert named_environment(config) == envs.make("Pendulum-v1", g=3.0)
    in_gymnasium = named_environment(config, facts={"environment_given": False})
    assert in_gymnasium().unwrapped.g == 3.0


@pytest.mark.parametrize(
    ("env", "name", "message"),
    [
        ("GridWorld", "noise", "unknown argument of GridWorld 'noise'; known, .*: move_noise$"),
        ("GridWorld", "collision", "env_kwargs has collision, which is a setting of its own"),
        ("CartPole-v1", "gravity", "env_kwargs has gravity, but CartPole-v1 has no arguments"),
    ],
)
def test_arguments_that_a_built_in_environment_lacks_are_refused(env, name, message):
    with pytest.raises(FreqdynaError, match=message):
        named_environment(Config.of({"env": env, "env": {"name": env, **{name: 1.0}}}))
