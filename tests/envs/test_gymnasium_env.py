import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from freqdyna.core.episode_limits import EPISODE_LIMITS, GYMNASIUMS_LIMITS
from gymnasium.utils.env_checker import check_env

import freqdyna
from freqdyna import envs
from freqdyna.envs.names import GymnasiumEnv
from freqdyna.envs.picture import AGENT, COLORS

IDS = ["freqdyna/GridWorld-v0", "freqdyna/MazeGridWorld-v0", "freqdyna/DynaMaze-v0"]
IDS += ["freqdyna/PuddleWorld-v0", "freqdyna/TubeGridWorld-3-v0"]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.filterwarnings("error")
def test_passes_gymnasiums_checker(name):
    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


def test_the_tables_of_limits_are_right():
    assert {name: envs.make(name).episode_limit for name in envs.ENVIRONMENTS} == EPISODE_LIMITS
    theirs = {name: gymnasium.spec(name).max_episode_steps for name in GYMNASIUMS_LIMITS}
    assert theirs == GYMNASIUMS_LIMITS


def test_every_id_has_the_limit_of_its_environment():
    ours = {name: spec for name, spec in gymnasium.registry.items() if spec.namespace == "freqdyna"}
    assert len(ours) == 9
    for spec in ours.values():
        assert spec.max_episode_steps == envs.make(spec.kwargs["name"]).episode_limit


def test_gymnasium_imports_the_module_of_an_id():
    code = "import gymnasium; gymnasium.make('freqdyna.envs:freqdyna/DynaMaze-v0')"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_truncates_at_2000_steps_and_not_before():
    env = gymnasium.make("freqdyna/GridWorld-v0")
    env.reset(seed=0)
    outcomes = [env.step(0)[2:4] for _ in range(2000)]  # up alone never reaches the goal
    assert outcomes[:-1] == [(False, False)] * 1999
    assert outcomes[-1] == (False, True)


def test_a_walk_through_the_hole_ends_at_the_goal():
    env = gymnasium.make("freqdyna/GridWorld-v0", move_noise=0.0)
    env.reset(seed=0)
    total, terminated = 0.0, False
    for action in [0] * 9 + [3] * 19 + [0] * 12:  # up to the hole, right through it, up
        observation, reward, terminated, _, _ = env.step(action)
        total += reward
        if terminated:
            break
    assert terminated
    assert env.observation_space.contains(observation)
    assert total == -(9 + 19 + 9)  # the goal step gives 0


def test_the_picture_shows_walls_holes_start_goal_and_agent():
    env = gymnasium.make("freqdyna/MazeGridWorld-v0", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    height, width, _ = picture.shape

    def color(x, y):
        return tuple(picture[int((1 - y) * height), int(x * width)])

    for wall in envs.MazeGridWorld.walls:
        assert color(*wall.hole_center) == COLORS["hole"]
        assert color(wall.left + 0.05, 0.6) == COLORS["wall"]
    assert color(0.98, 0.98) == COLORS["goal"]
    assert np.any(np.all(picture == COLORS["start"], axis=-1))
    assert color(*env.unwrapped._state) == AGENT


def test_bad_arguments_are_refused():
    env = gymnasium.make("freqdyna/GridWorld-v0")
    env.reset(seed=0)
    for action in (7, -1):
        with pytest.raises(freqdyna.FreqdynaError, match="it must be in Discrete"):
            env.unwrapped.step(action)
    with pytest.raises(freqdyna.FreqdynaError, match="episode_limit is set by Gymnasium"):
        GymnasiumEnv("GridWorld", episode_limit=5)
    with pytest.raises(freqdyna.FreqdynaError, match="render_mode is 'human'"):
        GymnasiumEnv("GridWorld", render_mode="human")
