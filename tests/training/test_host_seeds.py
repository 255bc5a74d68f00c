"""Whole runs in Gymnasium environments."""

import _thread
import itertools
import pickle
import shutil
from dataclasses import replace

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from corridor import SMALL, Corridor
from gymnasium import spaces

import freqdyna
from freqdyna import Config
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.state import Visited
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.gym import space_of
from freqdyna.training.interrupts import InterruptedRun


class Slider(Corridor):
    """The corridor with a continuous push."""

    action_space = spaces.Box(-2.0, 1.0, (1,))

    def step(self, action):
        assert self.action_space.contains(action)
        return super().step(6 if action[0] > 0 else 5)


PLAIN = {name: value for name, value in SMALL.items() if not name.startswith("search_control.")}
"""For a search-control without settings, or for none."""
TWICE = PLAIN | {"eval_episodes": 2}


@pytest.fixture(scope="module")
def seeds_and_whole():
    """The seed of every episode, and the result, of a run that nothing disturbs."""
    reset, seeds = Corridor.reset, []

    def seen(self, *, seed=None, options=None):
        seeds.append(seed)
        return reset(self, seed=seed)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Corridor, "reset", seen)
        return seeds, freqdyna.train(Corridor(), "dyna-uniform", **TWICE)


@pytest.fixture(scope="module")
def whole(seeds_and_whole):
    return seeds_and_whole[1]


def test_discrete_actions_train(seeds_and_whole):
    seeds, result = seeds_and_whole
    assert len(seeds) > 3 * (1 + 2 * 2)
    assert len(set(seeds)) == len(seeds)  # every episode begins in its own way
    policy = result.policy(1)  # it knows the environment that was passed to train
    kept = pickle.loads(pickle.dumps(replace(result, environment=lambda: Corridor())))
    assert kept.environment is None  # it could not be pickled
    assert policy(np.zeros(2)) in (5, 6)
    states = np.random.default_rng(0).uniform(size=(7, 2))
    np.testing.assert_array_equal(policy(states), [policy(state) for state in states])
    with pytest.raises(FreqdynaError):
        policy(np.zeros(3))
    assert result.config.env == "Corridor"
    assert (result.config.model, result.config.trust) == ("ensemble", "calibrated")
    assert np.isfinite(result.returns).all()
    assert np.isfinite(result.parameters).all()
    assert len(np.unique(result.parameters[:, 0])) == 3


def test_continuous_actions_train():
    result = freqdyna.train(Slider, "naf", **PLAIN)
    assert np.isfinite(result.returns).all()
    action = result.policy(0, env=Slider)(np.array([0.5, 7.0]))
    assert Slider.action_space.contains(action)
    best = np.tanh(result.network(0)(jnp.array([0.5, 7.0]))[1])
    np.testing.assert_allclose(action, -2 + (best + 1) / 2 * 3, rtol=1e-4)


def test_an_actor_critic_plans_and_resumes_to_the_same_bits(tmp_path):
    settings = PLAIN | {"learner.critics": 3, "learner.hidden": (8, 8), "devices": 1}
    whole = freqdyna.train(Slider, "dyna", **settings)
    half = settings | {"steps": settings["eval_every"]}
    freqdyna.train(Slider, "dyna", out=tmp_path / "run", **half)
    resumed = freqdyna.resume(tmp_path / "run", steps=settings["steps"], env=Slider)
    assert len(whole.steps) > 1
    np.testing.assert_array_equal(resumed.parameters, whole.parameters)
    for name in ("return", "loss", "temperature", "trust"):
        np.testing.assert_array_equal(resumed.metrics[name], whole.metrics[name])
    assert np.isfinite(whole.metrics["loss"][:, -1]).all()
    action = resumed.policy(0, env=Slider)(np.array([0.5, 7.0]))
    best = np.tanh(resumed.network(0)(jnp.array([0.5, 7.0]))[0])
    np.testing.assert_allclose(action, -2 + (best + 1) / 2 * 3, rtol=1e-4)


@pytest.mark.parametrize(
    ("env", "algorithm", "settings", "word"),
    [
        (Corridor, "naf", {}, "discrete"),
        (Slider, "naf", {"env.reward_noise": 0.1}, "reward_noise"),
        (Corridor, "dyna-value", {"model.termination": "known"}, "termination"),
        (gymnasium.make("Pendulum-v1"), "dyna-naf-value", {"model": "true"}, "simulate"),
    ],
)
def test_what_does_not_fit_is_refused(env, algorithm, settings, word):
    with pytest.raises(FreqdynaError, match=word):
        freqdyna.check(env, algorithm, **PLAIN, **settings)


class Misdescribed(Corridor):
    """The corridor with rewards in the hundreds, and bounds that it leaves."""

    observation_space = spaces.Box(-0.01, 0.01, (2,))

    def step(self, action):
        observation, reward, *others = super().step(action)
        return observation, 500 * reward - 500, *others


class Changing(Corridor):
    """The corridor with another shape of observations after the first steps."""

    def step(self, action):
        observation, *others = super().step(action)
        self.steps = getattr(self, "steps", 0) + 1
        return np.append(observation, np.zeros(int(self.steps > 10))), *others


class Timed(Corridor):
    """The corridor with a time limit that is reported as termination."""

    def step(self, action):
        observation, *_ = super().step(action)
        return observation, -1.0, bool(self.state[1] == 20), False, {}


class Endless(Corridor):
    """The corridor without an end."""

    def step(self, action):
        observation, *_ = super().step(action)
        return observation, -1.0, False, False, {}


class Unseeded(Corridor):
    """The corridor with a start of its own randomness."""

    starts = itertools.count()

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        return observation + 1e-3 * next(self.starts), info


class Old(Corridor):
    """The corridor with the interface of Gym."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


def test_a_check_takes_some_steps_and_says_what_looks_wrong(capsys):
    freqdyna.check(Corridor, "er", **PLAIN)
    assert len(capsys.readouterr().out.splitlines()) == 1
    freqdyna.check(Misdescribed, "er", **PLAIN)
    assert len(capsys.readouterr().out.splitlines()) == 4  # two observations, the rewards
    for env, words in ((Timed, "20 steps"), (Endless, "no episode"), (Unseeded, "seed")):
        settings = PLAIN | {"env.episode_limit": 2000}
        freqdyna.check(env, "er", **settings)
        warning, _ = capsys.readouterr().out.splitlines()
        assert words in warning
    for env, words in ((Changing, "shape"), (Old, "reset did not return")):
        with pytest.raises(FreqdynaError, match=words):
            freqdyna.check(env, "er", **PLAIN)


def test_an_error_in_simulate_keeps_its_class_and_names_the_contract():
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the note is what counts
        freqdyna.train(Slider, "dyna-naf-value", **SMALL, model="true")
    assert any("must return next states" in note for note in raised.value.__notes__)


def test_the_environment_is_its_own_model_where_it_can_simulate(monkeypatch):
    asked, clocks, closed = [], [], []
    simulate, made = Corridor.simulate, []
    monkeypatch.setattr(Corridor, "__init__", lambda self: made.append(self))
    monkeypatch.setattr(Corridor, "close", lambda self: closed.append(self))

    def seen(self, states, actions):
        assert ((actions == 5) | (actions == 6)).all()
        assert ((states[:, 0] >= -1e-5) & (states[:, 0] <= 1 + 1e-5)).all()  # its own numbers
        clocks.append(states[:, 1].max())
        asked.append(len(states))
        return simulate(self, states, actions)

    monkeypatch.setattr(Corridor, "simulate", seen)
    result = freqdyna.train(Corridor, "dyna-value", model="true", **SMALL)
    assert np.isfinite(result.parameters).all()
    assert {id(env) for env in made} == {id(env) for env in closed}
    assert max(clocks) > 5  # normalised ones stay near zero
    asked.remove(1)  # it was tried out first
    # 40 steps after the warm-up, 2 updates of 32 simulated transitions, for 3 seeds and a copy.
    assert sum(asked) == 40 * 2 * 32 * 4


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a run that was stopped after some steps of training."""
    step, taken, folder = Corridor.step, [], tmp_path_factory.mktemp("host") / "run"

    def interrupting(self, action):
        taken.append(1)
        if len(taken) == 110:
            _thread.interrupt_main()
        return step(self, action)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Corridor, "step", interrupting)
        with pytest.raises(InterruptedRun):
            freqdyna.train(Corridor, "dyna-uniform", out=folder, **TWICE)
    return folder


def test_an_interrupted_run_goes_on_to_the_same_result(whole, stopped, tmp_path):
    folder = shutil.copytree(stopped, tmp_path / "run")
    resumed = freqdyna.resume(folder, env=Corridor, progress=False)
    np.testing.assert_array_equal(resumed.parameters, whole.parameters)
    np.testing.assert_array_equal(resumed.returns, whole.returns)


def test_an_environment_that_does_not_repeat_itself_begins_a_new_episode(
    stopped, tmp_path, monkeypatch
):
    folder, reset = shutil.copytree(stopped, tmp_path / "run"), Corridor.reset

    def other_clock(self, *, seed=None, options=None):
        reset(self, seed=seed)
        self.state[1] = 0.25
        return self.state.copy(), {}

    monkeypatch.setattr(Corridor, "reset", other_clock)
    with pytest.warns(UserWarning, match="Corridor"):
        result = freqdyna.resume(folder, env=Corridor, progress=False)
    assert np.isfinite(result.returns).all()


def test_a_search_keeps_to_what_was_visited_where_the_space_has_no_bounds():
    space = space_of(Corridor())
    config = Config("dyna-value", "Corridor", settings={"model.state_space": "known"})
    agent = algorithms.build(config, space)
    state, add = jax.jit(lambda key: agent.init(key))(jax.random.key(0)), jax.jit(Visited.add)
    for clock in (2.0, 7.0):
        seen = add(state.visited, np.float32([0.4, clock]), np.float32([0.4, clock]))
        state = eqx.tree_at(lambda s: s.visited, state, seen)
    search = agent.view(state, jnp.zeros((), int))
    inside = [bool(search.contains(jnp.array([0.9, clock]))) for clock in (1.0, 3.0, 8.0)]
    assert inside == [False, True, False]
    np.testing.assert_allclose(search.project(jnp.array([2.0, 9.0])), [1.0, 7.0])
