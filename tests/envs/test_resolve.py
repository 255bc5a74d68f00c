"""The settings of a run that are those of its environment."""

import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.envs.resolve import named_environment, space_of_run


def test_settings_of_the_environment_reach_it():
    config = Config(env="MazeGridWorld", collision="end_point", walls_in_state_space=True)
    assert named_environment(config) == envs.make(
        "MazeGridWorld", collision="end_point", walls_in_state_space=True
    )
    assert named_environment(Config(env="MazeGridWorld")) == envs.make("MazeGridWorld")


@pytest.mark.parametrize("given", [{"collision": "segment"}, {"walls_in_state_space": False}])
def test_environments_without_walls_have_no_settings_of_walls(given):
    ((name, value),) = given.items()
    message = f"{name} is {value!r}, but CartPole-v1 does not have that setting; omit it"
    with pytest.raises(FreqdynaError, match=message):
        named_environment(Config(env="CartPole-v1", **given))
    message = f"{name} is {value}; only built-in environments have that setting"
    with pytest.raises(FreqdynaError, match=message):
        space_of_run(lambda: None, Config(env="Pendulum-v1", **given), {})


def test_arguments_of_the_environment_reach_it():
    assert named_environment(Config(env="Pendulum-v1", env_kwargs={"g": 3.0}))().unwrapped.g == 3.0
    with pytest.raises(FreqdynaError, match="unknown setting of GridWorld 'wind'"):
        named_environment(Config(env="GridWorld", env_kwargs={"wind": 1}))
    with pytest.raises(FreqdynaError, match="env_kwargs has episode_limit, which is a setting"):
        named_environment(Config(env="GridWorld", env_kwargs={"episode_limit": 1}))
