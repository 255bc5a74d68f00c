"""Environments by name: built-in ones, Gymnasium's, and ours in Gymnasium."""

import gymnasium
import numpy as np
import pytest
from corridor import Corridor
from gymnasium.utils.env_checker import check_env

from freqdyna import Config, FreqdynaError, envs
from freqdyna.envs.names import (
    ENVIRONMENTS,
    GymnasiumEnv,
    environment_of_run,
    gymnasium_factory,
    space_of_run,
)
from freqdyna.envs.picture import AGENT, COLORS


def test_settings_of_the_environment_reach_it():
    config = Config.of({"env": {"name": "MazeGridWorld", "collision": "end_point"}})
    assert environment_of_run(config) == envs.make("MazeGridWorld", collision="end_point")
    config = Config.of({"env": {"name": "MountainCarContinuous-v0", "goal_velocity": 0.01}})
    assert environment_of_run(config)().unwrapped.goal_velocity == 0.01


@pytest.mark.parametrize(
    ("name", "setting"),
    [("CartPole-v1", "collision"), ("GridWorld", "walls"), ("MountainCarContinuous-v0", "walls")],
)
def test_settings_that_an_environment_lacks_are_refused(name, setting):
    with pytest.raises(FreqdynaError, match=setting):
        environment_of_run(Config.of({"env": {"name": name, setting: 1.0}}))()


def test_what_was_passed_in_python_is_not_found_by_its_name():
    config = Config.of({"env": {"name": "Pendulum-v1", "episode_limit": 7}})
    facts = {"environment_given": True}
    with pytest.raises(FreqdynaError, match="env="):
        environment_of_run(config, None, facts)
    again = environment_of_run(config, gymnasium.make("Pendulum-v1", g=3.0), facts)
    assert again().unwrapped.g == 3.0
    space = space_of_run(again, config)
    assert (space.on_host, space.episode_limit) == (True, 7)
    pendulum = envs.Pendulum(g=3.0)
    assert environment_of_run(config, pendulum, facts) is pendulum


def test_an_unknown_id_is_refused_and_a_module_may_register_one():
    with pytest.raises(FreqdynaError, match="'CartPole-v7'"):
        gymnasium_factory("CartPole-v7")
    with pytest.raises(FreqdynaError, match="'nowhere'"):
        gymnasium_factory("nowhere:Corridor-v0")
    gymnasium.register("Corridor-v0", Corridor)
    try:
        created = gymnasium_factory("corridor:Corridor-v0")()
        assert isinstance(created.unwrapped, Corridor)
    finally:
        del gymnasium.registry["Corridor-v0"]


OURS = [name for name in ENVIRONMENTS if f"freqdyna/{name}-v0" in gymnasium.registry]


def test_gymnasium_has_an_id_for_what_it_lacks():
    assert [name for name in ENVIRONMENTS if name not in gymnasium.registry] == OURS
    for name in OURS:
        spec = gymnasium.spec(f"freqdyna/{name}-v0")
        assert spec.max_episode_steps == envs.make(name).episode_limit


@pytest.mark.parametrize("name", ["MazeGridWorld", "PuddleWorld"])
@pytest.mark.filterwarnings("error")
def test_they_pass_gymnasiums_checker(name):
    check_env(gymnasium.make(f"freqdyna/{name}-v0", render_mode="rgb_array").unwrapped)


def test_a_walk_through_the_hole_ends_at_the_goal_and_waiting_at_the_limit():
    env = gymnasium.make("freqdyna/GridWorld-v0", move_noise=0.0)
    env.reset(seed=0)
    outcomes = []
    for action in [0] * 9 + [3] * 19 + [0] * 10:  # up to the hole, right through it, up
        observation, *outcome, _ = env.step(action)
        outcomes.append(tuple(outcome))
    assert outcomes == [(-1.0, False, False)] * 37 + [(0.0, True, False)]
    assert env.observation_space.contains(observation)
    env = gymnasium.make("freqdyna/GridWorld-v0", max_episode_steps=20)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(20)] == [False] * 19 + [True]


def test_the_picture_has_walls_holes_start_goal_and_agent():
    env = gymnasium.make("freqdyna/MazeGridWorld-v0", render_mode="rgb_array")
    (x, y), _ = env.reset(seed=0)
    picture = env.render()
    height, width, _ = picture.shape

    def color(x, y):
        return tuple(picture[int((1 - y) * height), int(x * width)])

    for wall in envs.MazeGridWorld.walls:
        assert color(*wall.hole_center) == COLORS["hole"]
        assert color(wall.left + 0.05, 0.6) == COLORS["wall"]
    assert color(0.98, 0.98) == COLORS["goal"]
    assert np.any(np.all(picture == COLORS["start"], axis=-1))
    assert color(x, y) == AGENT


def test_bad_arguments_are_refused():
    env = GymnasiumEnv("GridWorld")
    env.reset(seed=0)
    with pytest.raises(FreqdynaError, match="action"):
        env.step(7)
    for bad in ({"episode_limit": 5}, {"render_mode": "human"}):
        with pytest.raises(FreqdynaError, match=next(iter(bad))):
            GymnasiumEnv("GridWorld", **bad)
