"""Animations of trained policies: what is played, what is drawn, and what is refused."""

import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image, ImageSequence

import freqdyna
from freqdyna import Config, FreqdynaError, Result, envs
from freqdyna.agents.algorithms import completed
from freqdyna.cli.main import main
from freqdyna.envs.base import run_episode
from freqdyna.envs.gym import space_of
from freqdyna.envs.names import environment_of_run
from freqdyna.results import watch
from freqdyna.results.policy import space_text
from freqdyna.results.watch import Animation, Frame, watch_key

EXPLORED = Path(__file__).parents[2] / "results" / "explorer"


def animation(steps, episodes=1, steps_a_second=25.0):
    """An animation of episodes of so many steps, of a line that wanders."""

    def picture(step):
        drawn = np.zeros((32, 32, 3), np.uint8)
        drawn[step % 32] = 255
        return drawn

    made = Animation(steps_a_second, episodes)
    for episode in range(episodes):
        for step in range(steps + 1):
            over = step == steps
            made.add(episode, Frame(step, -float(step), over, over, lambda s=step: picture(s)))
    return made


def steps_of(made):
    return [step for step, _, _ in made.images]


def test_a_short_animation_has_every_step_at_the_speed_of_the_environment():
    made = animation(steps=10, episodes=2)
    assert steps_of(made) == [*range(11)] * 2
    assert made.durations == ([40] * 10 + [1000]) * 2
    read = Image.open(io.BytesIO(made.gif()))
    assert read.n_frames == 22
    assert read.info["loop"] == 0
    assert [f.info["duration"] for f in ImageSequence.Iterator(read)] == made.durations


def test_a_quick_environment_has_fewer_images_not_quicker_ones():
    made = animation(steps=101, steps_a_second=100.0)
    assert steps_of(made) == [*range(0, 100, 3), 101]
    assert min(made.durations) == 30


def test_a_long_animation_is_thinned_evenly_and_keeps_first_and_last(monkeypatch):
    monkeypatch.setattr(watch, "MOST_FRAMES", 50)
    made = animation(steps=151, episodes=2, steps_a_second=10.0)
    assert steps_of(made) == [*range(0, 151, 8), 151] * 2
    assert made.durations[0] == 100  # eight times as fast


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


def untrained(algorithm, layer_sizes, provenance, **settings):
    """A run of seeds 3 and 4 whose networks have random parameters."""
    given = {"algorithm": algorithm, "seeds": 2, "first_seed": 3, "steps": 40, "eval_every": 40}
    given |= {"learner.hidden": layer_sizes[1:-1], "env.episode_limit": 30, **settings}
    size = sum((a + 1) * b for a, b in pairwise(layer_sizes))
    return Result(
        completed(Config.of(given)),
        provenance,
        np.array([3, 4]),
        np.array([40]),
        {"return": np.zeros((2, 1))},
        np.random.default_rng(0).normal(size=(2, size)).astype(np.float32),
        layer_sizes,
    )


@pytest.fixture(scope="module")
def square():
    return untrained("er", (2, 4, 4), {}, env="GridWorld")


@pytest.fixture(scope="module")
def dial():
    facts = {"environment_given": True, "space": space_text(space_of(Dial()))}
    settings = {"env": "Dial", "learner.activation": "tanh", "learner.layer_norm": False}
    return untrained("naf", (1, 4, 3), facts, **settings)


def frames(path):
    with Image.open(path) as gif:
        for number in range(gif.n_frames):
            gif.seek(number)
            yield np.asarray(gif.convert("RGB")).astype(int)


def test_an_animation_is_of_the_best_actions_from_start_to_goal(tmp_path):
    stored = freqdyna.load(EXPLORED / "maze-dyna-frequency")
    # Noisy rewards tell whether random keys are the same.
    result = replace(stored, config=stored.config.changed({"env.reward_noise": 0.5}))
    returns = result.watch(tmp_path / "policy.gif", seed=1, episodes=2)
    env, network = environment_of_run(result.config), result.network(1)
    episode = jax.jit(lambda key: run_episode(env, lambda s, _: jnp.argmax(network(s)), key))
    ends = [episode(watch_key(1, number)) for number in range(2)]
    assert all(end.terminal for end in ends)
    np.testing.assert_allclose(returns, [end.total for end in ends], rtol=1e-5)
    picture = Image.fromarray(env.painter().draw(np.array(ends[1].state)))
    last = np.asarray(picture.resize((320, 320), Image.Resampling.BILINEAR)).astype(int)
    *_, image = frames(tmp_path / "policy.gif")
    assert np.abs(image[:320] - last).mean() < 3  # a GIF has few colours


@pytest.mark.default_compiler
def test_the_policy_of_a_stored_run_takes_the_best_actions():
    result = freqdyna.load(EXPLORED / "mountain-car-dyna-value")
    policy, network = result.policy(0), result.network(0)
    for observation in envs.make(result.config.env).low + np.array([[0.02, 0.01], [0.3, 0.05]]):
        assert policy(observation) == np.argmax(network(jnp.asarray(observation, jnp.float32)))


def test_continuous_actions_are_the_best_ones_without_noise(dial, tmp_path):
    played = []

    def made():
        played.append(Dial("rgb_array"))
        return played[-1]

    assert dial.watch(tmp_path / "policy.gif", env=made, episodes=1).tolist() == [30 * 0.25]
    done = max((env.done for env in played), key=len)
    assert len(done) == 30
    for angle, action in done:
        best = np.tanh(dial.network(3)(jnp.asarray(angle))[1])
        np.testing.assert_allclose(action, 1 + 3 * best, rtol=1e-5)
    assert len(list(frames(tmp_path / "policy.gif"))) == 31


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


def test_a_policy_acts_in_any_environment_with_the_spaces_of_its_run(square, dial, tmp_path):
    class Wide(Dial):
        observation_space = spaces.Box(-20.0, 20.0, (1,))

    with pytest.raises(FreqdynaError, match="env"):
        dial.policy(3, env=Wide)
    returns = square.watch(tmp_path / "a.gif", env=envs.GridWorld(episode_limit=5), episodes=1)
    assert returns.tolist() == [-5.0]


def test_the_command_writes_an_animation(square, tmp_path):
    folder = square.save(tmp_path / "run")
    main(["watch", str(folder), "--seed=4", "--episodes=2"])
    assert len(list(frames(folder / "policy.gif"))) == 62


def test_what_cannot_be_played_drawn_or_written_is_refused(square, dial, tmp_path):
    diverged = replace(square, parameters=np.full_like(square.parameters, np.nan))
    for run, arguments, name in (
        (square, {"seed": 5}, "seed"),
        (square, {"episodes": 101}, "episodes"),
        (square, {"path": tmp_path / "policy.mp4"}, "out"),
        (diverged, {}, "diverged"),
        (dial, {}, "env"),  # it was an object
        (dial, {"env": Dial}, "render_mode"),
        (dial, {"env": lambda: Dial("human")}, "cannot be drawn"),
    ):
        with pytest.raises(FreqdynaError, match=name):
            run.watch(**{"path": tmp_path / "policy.gif"} | arguments)
    assert not list(tmp_path.iterdir())
