import re
import sys
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image

import freqdyna
from freqdyna import FreqdynaError, envs
from freqdyna.agents import algorithms
from freqdyna.cli.main import main
from freqdyna.envs.base import run_episode
from freqdyna.envs.mazes import GOAL_CELL, START_CELL
from freqdyna.envs.names import named_environment
from freqdyna.results import playback
from freqdyna.results.playback import watch_key

SMALL = {
    "seeds": 2,
    "first_seed": 3,
    "steps": 40,
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "warmup_steps": 10,
    "eval_every": 40,
    "episode_limit": 30,
    "progress": False,
}


EXPLORED = Path(__file__).parents[2] / "results" / "explorer"


class Dial(gymnasium.Env):
    """Turn a dial; it remembers what was done to it."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012
    observation_space = spaces.Box(-10.0, 10.0, (1,))
    action_space = spaces.Box(-2.0, 4.0, (1,))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.done = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angle = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.angle.copy(), {}

    def step(self, action):
        self.done.append((self.angle.copy(), action))
        self.angle = np.clip(self.angle + action, -10, 10).astype(np.float32)
        return self.angle.copy(), 0.25, False, False, {}

    def render(self):
        return np.full((20, 20, 3), 100, np.uint8)


@pytest.fixture(scope="module")
def maze():
    """An agent that knows the way."""
    settings = SMALL | {
        "steps": 3000,
        "eval_every": 3000,
        "planning_steps": 5,
        "episode_limit": 2000,
    }
    return freqdyna.train("DynaMaze", "tabular-dyna-q", **settings)


@pytest.fixture(scope="module")
def square():
    """Its rewards are noisy, so that returns tell whether random keys are the same."""
    return freqdyna.train("GridWorld", "er", reward_noise=0.5, **SMALL)


@pytest.fixture(scope="module")
def dial():
    return freqdyna.train(Dial, "naf", **SMALL)


@pytest.fixture(scope="module")
def folder(square, tmp_path_factory):
    return square.save(tmp_path_factory.mktemp("runs") / "square")


def frames(path):
    with Image.open(path) as film:
        for number in range(film.n_frames):
            film.seek(number)
            yield np.asarray(film.convert("RGB")).astype(int)


def greedy(result, seed):
    """The environment, and from a key to an episode of the evaluation's policy at no exploration.

    By way of the whole agent.
    """
    env = named_environment(result.config)
    # The stored parameters are those of a network that sees observations as they are.
    agent = algorithms.build(replace(result.config, scale_observations=False), env)
    learned = jnp.asarray(result.parameters[list(result.seeds).index(seed)])
    state = jax.jit(agent.init)(jax.random.key(0))
    if result.config.algorithm == "tabular-dyna-q":
        values = learned.reshape(state.table.values.shape)
        state = eqx.tree_at(lambda s: s.table.values, state, values)
    else:
        state = eqx.tree_at(lambda s: s.learner.params, state, learned)

    def policy(observation, key):
        return agent.act(state, observation, 0.0, key)

    return env, jax.jit(lambda key: run_episode(env, policy, key))


@pytest.mark.parametrize("which", ["maze", "square"])
def test_an_episode_is_the_evaluation_of_the_greedy_policy(which, tmp_path, request, monkeypatch):
    result = request.getfixturevalue(which)
    ends = []
    show = playback.Film.show

    def noted(film, episode, moment):
        if moment.over:
            ends.append(moment)
        show(film, episode, moment)

    monkeypatch.setattr(playback.Film, "show", noted)
    returns = result.watch(tmp_path / "film.gif", seed=4, episodes=2)
    _, episode = greedy(result, 4)
    for number, end in enumerate(ends):
        expected = episode(watch_key(4, number))
        assert (end.step, end.terminal) == (expected.length, expected.terminal)
        assert end.total == returns[number] == pytest.approx(float(expected.total))
        np.testing.assert_allclose(end.draw.args[0], expected.state, atol=1e-5)  # what is drawn
    assert len(ends) == 2


def test_the_film_goes_from_the_start_to_the_goal(maze, tmp_path):
    returns = maze.watch(tmp_path / "film.gif", episodes=2)
    assert returns.tolist() == [1, 1]
    shown = list(frames(tmp_path / "film.gif"))
    env, episode = greedy(maze, 3)
    lengths = [int(episode(watch_key(3, i)).length) for i in range(2)]
    assert min(lengths) >= 14  # the shortest way
    assert len(shown) == sum(lengths) + 2
    ends = (0, START_CELL), (lengths[0], GOAL_CELL), (lengths[0] + 1, START_CELL), (-1, GOAL_CELL)
    for number, cell in ends:
        drawn = env.picture(np.array(cell))
        small = Image.fromarray(drawn).resize((320, 213), Image.Resampling.BILINEAR)
        assert np.abs(shown[number][:213] - np.asarray(small).astype(int)).max() < 16
    assert (tmp_path / "film.gif").stat().st_size < 50_000


@pytest.mark.default_compiler
@pytest.mark.parametrize("name", ["maze-dyna-frequency", "mountain-car-dyna-value"])
def test_the_policy_of_a_stored_run_takes_the_best_actions(name):
    result = freqdyna.load(EXPLORED / name)
    policy, network = result.policy(0), result.network(0)
    for observation in envs.make(result.config.env).low + np.array([[0.02, 0.01], [0.3, 0.05]]):
        assert policy(observation) == np.argmax(network(jnp.asarray(observation, jnp.float32)))


def test_continuous_actions_are_the_best_ones_without_noise(dial, tmp_path):
    played = []

    def made():
        played.append(Dial("rgb_array"))
        return played[-1]

    with pytest.raises(FreqdynaError, match=r"'Dial' was passed in Python; .*watch\(\.\.\., env="):
        dial.watch(tmp_path / "film.gif")
    with pytest.raises(FreqdynaError, match="it was created without render_mode='rgb_array'"):
        dial.watch(tmp_path / "film.gif", env=Dial)
    assert dial.watch(tmp_path / "film.gif", env=made, episodes=1).tolist() == [30 * 0.25]
    done = max((env.done for env in played), key=len)
    assert len(done) == 30
    for angle, action in done:
        best = np.tanh(dial.network(3)(jnp.asarray(angle))[1])
        np.testing.assert_allclose(action, 1 + 3 * best, rtol=1e-5)
    assert len(list(frames(tmp_path / "film.gif"))) == 31


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1", "Acrobot-v1", "Pendulum-v1"])
def test_our_states_are_drawn_as_gymnasium_draws_its_own(name, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(name, render_mode="rgb_array")
    state, _ = env.reset(seed=1)
    last = env.action_space.high if name == "Pendulum-v1" else env.action_space.n - 1
    for _ in range(5):
        state, *_ = env.step(last)
    env.unwrapped.last_u = None  # Pendulum's torque, which is not part of a state
    painter = envs.make(name).painter()
    assert painter.steps_a_second == env.metadata["render_fps"]
    drawn, expected = painter.draw(state), env.render()
    assert (drawn != expected).mean() < 1e-3  # rounding may move the edge of a line
    assert (drawn != painter.draw(np.asarray(envs.make(name).reset(jax.random.key(0))))).any()


def test_what_cannot_be_drawn_is_refused(square, dial, tmp_path, monkeypatch):
    class Plain(envs.GridWorld):
        def painter(self):
            return freqdyna.envs.Environment.painter(self)

    film = tmp_path / "film.gif"
    monkeypatch.setitem(sys.modules, "pygame", None)
    car = replace(
        square,
        config=replace(square.config, env="MountainCar-v0"),
        provenance={},
        parameters=np.zeros((2, 2 * 4 + 4 + 4 * 3 + 3), np.float32),
    )
    with pytest.raises(FreqdynaError, match=r"'MountainCar-v0', .*pip install '\.\[watch\]'"):
        car.watch(film)
    with pytest.raises(FreqdynaError, match="'GridWorld', which cannot be drawn: its class has no"):
        square.watch(film, env=Plain(episode_limit=30))
    with pytest.raises(FreqdynaError, match="but this run was started with GridWorld"):
        square.watch(film, env=envs.GridWorld(episode_limit=31))
    monkeypatch.setitem(Dial.metadata, "render_modes", ["human"])
    with pytest.raises(
        FreqdynaError, match=r"its render modes are \['human'\], without 'rgb_array'"
    ):
        dial.watch(film, env=lambda: Dial("human"))
    monkeypatch.setitem(Dial.metadata, "render_modes", ["rgb_array"])
    monkeypatch.setattr(Dial, "render", lambda self: None)
    with pytest.raises(FreqdynaError, match=r"its render returns an array of shape \(\)"):
        dial.watch(film, env=lambda: Dial("rgb_array"))
    assert not film.exists()


def test_the_command_says_what_it_does_and_what_came_of_it(folder, capsys):
    main(["watch", str(folder), "--seed=4", "--episodes=2"])
    first, *episodes, last = capsys.readouterr().out.splitlines()
    assert first == (
        "er on GridWorld (30 steps), seed 4, after 40 steps: 2 episodes of the greedy policy, "
        "at most 30 steps each"
    )
    for number, line in enumerate(episodes):
        assert re.fullmatch(
            rf"episode {number + 1}: return -\d\d(\.\d)?, 30 steps, truncated", line
        )
    assert len(episodes) == 2
    assert last.startswith(f"animation: {folder}/policy.gif (62 frames, 5 s, ")
    assert len(list(frames(folder / "policy.gif"))) == 62


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed=5"], "seed is 5; it must be one of [3, 4]"),
        (["--episodes=0"], "episodes is 0; it must be an integer from 1 to 100"),
        (["--episodes=101"], "episodes is 101; it must be an integer from 1 to 100"),
        (["--out=film.mp4"], "out is 'film.mp4'; it must end in .gif"),
        (["--out=no/film.gif"], "out is 'no/film.gif'; it must be a file in a folder that exists"),
    ],
)
def test_bad_input_to_watch_is_refused(folder, arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exited:
        main(["watch", str(folder), *arguments])
    assert exited.value.code == 2
    captured = capsys.readouterr()
    assert captured.err == f"freqdyna: {message}\n"
    assert not captured.out
    assert not list(tmp_path.iterdir())


def test_runs_without_usable_parameters_are_refused(square, tmp_path, capsys):
    def refused(path):
        with pytest.raises(SystemExit):
            main(["watch", str(path)])
        return capsys.readouterr().err

    assert "is not a run folder: it has no config.toml" in refused(tmp_path / "nowhere")
    run = square.save(tmp_path / "run")
    (run / "arrays.npz").unlink()
    assert "was stored without its parameters" in refused(run)
    (run / "metrics.parquet").unlink()
    assert "finish the run with: freqdyna resume" in refused(run)
    diverged = replace(square, parameters=np.full_like(square.parameters, np.nan))
    with pytest.raises(FreqdynaError, match="seed is 3, which diverged"):
        diverged.watch(tmp_path / "film.gif")
    assert not (tmp_path / "film.gif").exists()


def test_what_goes_wrong_on_the_way_is_told(square, dial, tmp_path, monkeypatch, capsys):
    film = tmp_path / "film.gif"
    unfinished = replace(square, config=replace(square.config, steps=80))
    unfinished.watch(film, episodes=1, progress=True)
    assert "seed 3, not yet trained to the end: 1 episode of the" in capsys.readouterr().out
    other = replace(square, config=replace(square.config, hidden=(5,)))
    with pytest.raises(FreqdynaError, match=r"a seed has 32 parameters; .* need 39"):
        other.watch(film)

    def broken(self, action):
        raise RuntimeError("the spring is gone")

    monkeypatch.setattr(Dial, "step", broken)
    with pytest.raises(FreqdynaError, match="'Dial', which fails: step raised RuntimeError: the"):
        dial.watch(film, env=lambda: Dial("rgb_array"))
