"""Gymnasium environments stepped on the host, one step at a time and for whole runs."""

import sys
from pathlib import Path

import corridor
import gymnasium
import numpy as np
import pytest
from corridor import SMALL, Corridor
from gymnasium import spaces

import freqdyna
from freqdyna import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.gym import (
    ClosingFactory,
    EnvironmentFailed,
    HostEnvs,
    Slot,
    factory_of,
    make_env,
    space_of,
)
from freqdyna.envs.names import environment_of_run
from freqdyna.training.api import prepare


class Faulty(Corridor):
    """Fails in the way given, at the step given of the second seed's environment, or of all."""

    made, at, all_fail = 0, 25, False
    fault = "raise"

    def __init__(self):
        self.number, self.steps = Faulty.made, 0
        Faulty.made += 1

    def step(self, action):
        self.steps += 1
        observation, *rest = super().step(action)
        # The first one is looked at alone, the last three are for evaluations.
        if self.number in ((1, 2, 3) if self.all_fail else (2,)) and self.steps >= self.at:
            if self.fault == "raise":
                raise ValueError("the motor is hot\nand more")
            if self.fault == "exit":
                sys.exit("the motor is hot")  # as a simulator's own main program would
            observation = np.full(2, np.nan)
        return observation, *rest


class Quits(Corridor):
    """Calls sys.exit in the method given."""

    where = ""

    def __init__(self):
        self._quit("create")

    def reset(self, *, seed=None, options=None):
        self._quit("reset")
        return super().reset(seed=seed, options=options)

    def close(self):
        self._quit("close")

    def _quit(self, where):
        if where == self.where:
            sys.exit(3)


def test_sys_exit_in_an_environment_is_a_failure_of_it_like_any_other(monkeypatch):
    space = space_of(Quits(), 30)
    monkeypatch.setattr(Quits, "where", "reset")
    envs_of_seeds = HostEnvs(Quits, space, np.array([0, 1]))
    envs_of_seeds.begin()
    (reason,) = {f.reason for f in envs_of_seeds.failures.values()}
    assert reason.startswith("reset raised SystemExit: 3")
    monkeypatch.setattr(Quits, "where", "close")
    factory = ClosingFactory(Quits)
    make_env(factory)
    factory.close()


class Fails(Corridor):
    """Fails in the method given, from within Gymnasium or NumPy."""

    where = ""

    def __init__(self):
        if self.where == "__init__":
            raise RuntimeError("no init")

    def reset(self, *, seed=None, options=None):
        return super().reset(seed="none" if self.where == "reset" else seed)

    def step(self, action):
        if self.where == "step":
            np.stack([])
        return super().step(action)


def line_of(text):
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.strip() == text)


def test_a_failure_of_the_users_class_is_told_with_file_and_line(monkeypatch):
    slot = Slot(make_env(Fails), corridor_space(), 0, 0)
    slot.begin(0)

    def told(where, call):
        monkeypatch.setattr(Fails, "where", where)
        with pytest.raises((FreqdynaError, EnvironmentFailed)) as failed:
            call()
        return str(failed.value)

    monkeypatch.setattr(Fails, "where", "__init__")
    with pytest.raises(RuntimeError, match="no init") as failed:
        make_env(Fails)
    assert "gymnasium.Env" in failed.value.__notes__[0]
    line = line_of("np.stack([])")
    reason = told("step", lambda: slot.step(np.int32(0)))
    assert reason.startswith("step raised ValueError: ")
    assert reason.endswith(f"test_host.py, line {line})")
    # The corridor passes it on to Gymnasium.
    line = 1 + Path(corridor.__file__).read_text().splitlines().index(
        "        super().reset(seed=seed)"
    )
    assert told("reset", lambda: slot.begin(1)).endswith(f"corridor.py, line {line})")


def corridor_space(limit=30):
    return space_of(Corridor(), limit)


def test_the_space_takes_bounds_actions_and_limit_from_the_environment():
    space = space_of(gymnasium.make("Pendulum-v1"))
    assert (space.name, space.num_actions, space.episode_limit) == ("Pendulum-v1", 0, 200)
    np.testing.assert_allclose(space.high, [1, 1, 8])
    np.testing.assert_allclose((space.action_low, space.action_high), [[-2], [2]])
    space = corridor_space()
    assert (space.name, space.num_actions, space.action_size) == ("Corridor", 2, 1)
    assert (space.episode_limit, space_of(Corridor()).episode_limit) == (30, 2000)
    assert not space.is_bounded
    assert not space.knows_terminal
    np.testing.assert_array_equal(space.low, [0, -np.inf])
    assert [space.to_env_action(np.int32(a)) for a in (0, 1)] == [5, 6]


@pytest.mark.parametrize(
    ("observations", "actions", "words"),
    [
        (spaces.Dict({"x": spaces.Discrete(2)}), spaces.Discrete(2), "observations .* are Dict"),
        (spaces.Box(0, 255, (8, 8, 3)), spaces.Discrete(2), r"are Box of shape \(8, 8, 3\)"),
        (spaces.Discrete(5), spaces.Discrete(2), "observations .* are Discrete"),
        (spaces.Box(0, 1, (2,)), spaces.MultiDiscrete([2, 2]), "actions .* are MultiDiscrete"),
        (spaces.Box(0, 1, (2,)), spaces.Box(-np.inf, np.inf, (1,)), "with finite bounds"),
        (spaces.Box(0, 1, (2,)), spaces.Box(1, 1, (1,)), "the upper greater than the lower ones"),
        (spaces.Box(0, 1, (2,)), spaces.Box(0, 1, (0,)), r"actions .* are Box of shape \(0,\)"),
        (spaces.Box(0, 1, (0,)), spaces.Discrete(2), r"observations .* are Box of shape \(0,\)"),
        (None, spaces.Discrete(2), "observations .* are not given"),
    ],
)
def test_what_is_not_supported_is_refused_in_a_sentence(observations, actions, words):
    class Odd(Corridor):
        observation_space, action_space = observations, actions

    with pytest.raises(FreqdynaError, match=words):
        freqdyna.train(Odd, "er", **SMALL)


def test_a_limit_cuts_an_episode_without_ending_it_and_a_goal_ends_it():
    slot = Slot(Corridor(), corridor_space(limit=4), 0, 0)
    slot.begin(0)
    outcomes = [slot.step(np.int32(0))[2:] for _ in range(4)]
    assert outcomes == [(False, False)] * 3 + [(False, True)]
    slot = Slot(Corridor(), corridor_space(), 0, 0)
    slot.begin(0)
    outcomes = [slot.step(np.int32(1))[2:] for _ in range(9)]
    assert outcomes[-1] == (True, True) or slot.step(np.int32(1))[2:] == (True, True)


def test_the_environments_own_cut_is_no_termination():
    class Cut(Corridor):
        def step(self, action):
            observation, reward, terminal, _, info = super().step(action)
            return observation, reward, terminal, self.state[1] == 2, info

    slot = Slot(Cut(), corridor_space(), 0, 0)
    slot.begin(0)
    assert [slot.step(np.int32(0))[2:] for _ in range(2)] == [(False, False), (False, True)]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ((np.zeros(2), 0.0, False, {}), "did not return .*terminated, truncated, info"),
        (None, "did not return"),
        ((np.zeros(2), "much", False, False, {}), "did not return .*could not convert"),
        ((np.zeros(2), np.nan, False, False, {}), "the reward nan"),
        ((np.zeros(2), -1e39, False, False, {}), r"the reward -1e\+39"),
        ((np.zeros(2), 0.0, np.array([True, False]), False, {}), "did not return .*ambiguous"),
        (({"x": 1}, 0.0, False, False, {}), "an observation is not an array"),
        (("here", 0.0, False, False, {}), "an observation is not an array"),
        (([[1], [2, 3]], 0.0, False, False, {}), "an observation is not an array"),
        ((np.zeros(3), 0.0, False, False, {}), r"shape \(3,\)"),
        ((np.full(2, 1e39), 0.0, False, False, {}), "not finite"),
    ],
)
def test_what_is_no_step_is_told_in_a_sentence(outcome, words):
    class Odd(Corridor):
        def step(self, action):
            return outcome

    slot = Slot(Odd(), corridor_space(), 0, 0)
    slot.begin(0)
    with pytest.raises(EnvironmentFailed, match=words), np.errstate(over="ignore"):
        slot.step(np.int32(0))


def test_the_state_before_a_new_episode_is_kept_apart_from_its_start():
    hosts = HostEnvs(Corridor, corridor_space(limit=3), np.array([0, 1]))
    hosts.begin()
    found = [hosts.step(np.array([0, 0]), t) for t in range(3)][-1]
    assert found["over"].all()
    assert not found["terminal"].any()
    assert (found["next_state"][:, 1] == 3).all()
    assert (found["observation"][:, 1] == 0).all()


def test_seeds_and_episodes_begin_differently_and_always_alike():
    def starts(seeds):
        hosts = HostEnvs(Corridor, corridor_space(limit=1), np.array(seeds))
        first = hosts.begin()
        return np.stack([first, hosts.step(np.zeros(len(seeds), int), 0)["observation"]])[..., 0]

    several = starts([3, 4])
    assert len(np.unique(several)) == 4
    np.testing.assert_array_equal(starts([4])[:, 0], several[:, 1])


def test_a_restored_episode_is_where_it_was_and_goes_on_alike():
    actions = np.random.default_rng(0).integers(0, 2, (40, 2))
    one = HostEnvs(Corridor, corridor_space(limit=15), np.array([0, 1]))
    one.begin()
    for t in range(25):
        last = one.step(actions[t], t)["observation"]
    other = HostEnvs(Corridor, corridor_space(limit=15), np.array([0, 1]))
    reached = other.restore({k: v.copy() for k, v in one.memory().items()}, {})
    np.testing.assert_array_equal(reached, last)
    for t in range(25, 40):
        ours, theirs = other.step(actions[t], t), one.step(actions[t], t)
        for name, found in theirs.items():
            np.testing.assert_array_equal(ours[name], found)


@pytest.fixture(scope="module")
def healthy():
    """The run whose environments do not fail."""
    return freqdyna.train(Corridor, "er", **SMALL)


@pytest.fixture(scope="module")
def until_then():
    """The same up to the step before the one that fails."""
    return freqdyna.train(Corridor, "er", **SMALL | {"steps": 24, "replay.capacity": 60})


@pytest.mark.parametrize(
    ("fault", "words"), [("exit", "SystemExit: the motor is hot"), ("nan", "not finite")]
)
def test_a_failing_environment_ends_its_seed_alone(
    monkeypatch, tmp_path, fault, words, healthy, until_then
):
    monkeypatch.setattr(Faulty, "made", 0)
    monkeypatch.setattr(Faulty, "fault", fault)
    with pytest.warns(UserWarning, match=f"seed 1 stopped at step 25: Faulty.*{words}"):
        result = freqdyna.train(Faulty, "er", out=tmp_path / "run", **SMALL)
    assert np.isfinite(result.returns[[0, 2]]).all()
    assert np.isnan(result.returns[1]).all()
    assert words in freqdyna.load(tmp_path / "run").provenance["ended"]["1"]["reason"]
    assert np.isnan(result.metrics["loss"][1]).all()
    assert "2 of 3 seeds" in repr(result)
    for row in (0, 2):
        np.testing.assert_array_equal(result.parameters[row], healthy.parameters[row])
    np.testing.assert_array_equal(result.parameters[1], until_then.parameters[1])


def test_what_was_measured_before_every_seed_ended_is_kept(monkeypatch, tmp_path):
    for name, value in {"made": 0, "at": 35, "all_fail": True}.items():
        monkeypatch.setattr(Faulty, name, value)
    with pytest.warns(UserWarning, match="seed 2 stopped at step 35: .*; 0 of 3 seeds continue"):
        freqdyna.train(Faulty, "er", out=tmp_path / "run", **SMALL)
    result = freqdyna.load(tmp_path / "run")
    assert np.isfinite(result.returns[:, 0]).all()
    assert np.isnan(result.returns[:, 1]).all()
    assert list(result.provenance["ended"]) == ["0", "1", "2"]
    assert "none: all 3 seeds stopped" in repr(result)


def test_if_every_environment_fails_that_is_said():
    class Broken(Corridor):
        def reset(self, **kwargs):
            raise RuntimeError("no power")

    with pytest.raises(RuntimeError, match="no power") as failed:
        freqdyna.train(Broken, "er", **SMALL)
    assert "Broken failed for every seed" in failed.value.__notes__[0]

    def nothing():
        raise OSError("no such device")

    with pytest.raises(OSError, match="no such device"):
        freqdyna.train(nothing, "er", **SMALL)


def test_environments_are_copied_made_anew_or_made_by_the_function_given():
    pendulum = gymnasium.make("Pendulum-v1", g=3.0)
    assert make_env(factory_of(pendulum)).unwrapped.g == 3.0
    assert make_env(factory_of("Pendulum-v1")).spec.id == "Pendulum-v1"
    mine = Corridor()
    mine.color = "red"
    copied = make_env(factory_of(mine))
    assert copied is not mine
    assert copied.color == "red"
    with pytest.raises(FreqdynaError, match=r"env returned int; it must be a gymnasium.Env"):
        make_env(factory_of(lambda: 3))
    two = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    a_vector = "SyncVectorEnv, a vector environment; it must be a single environment"
    for env, words in ((two, a_vector), (3, "int; it must be a name")):
        with pytest.raises(FreqdynaError, match=f"env is {words}"):
            freqdyna.train(env, **SMALL)
    two.close()


def test_an_unknown_name_is_refused_with_those_that_are_near():
    with pytest.raises(FreqdynaError, match=r"unknown environment 'CartPole-v7'.*CartPole-v1"):
        freqdyna.train("CartPole-v7", "er", **SMALL)
    with pytest.raises(FreqdynaError, match="env is 'nowhere:Env-v0', but there is no module"):
        freqdyna.train("nowhere:Env-v0", "er", **SMALL)


class Louder(gymnasium.Wrapper):
    """A wrapper as users write them: Gymnasium cannot make it anew."""

    def __init__(self, env, factor):
        super().__init__(env)
        self.factor = factor

    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return observation, self.factor * reward, *rest


def test_an_object_is_taken_as_it_is_wrapped_and_changed():
    env = Louder(gymnasium.make("Pendulum-v1"), 3.0)
    env.unwrapped.g = 1.62
    another = make_env(factory_of(env))
    assert another is not env
    assert (another.factor, another.unwrapped.g) == (3.0, 1.62)
    another.unwrapped.g = 5.0
    assert env.unwrapped.g == 1.62


def test_an_environment_that_was_given_is_not_taken_for_one_of_its_name():
    settings = {k: v for k, v in SMALL.items() if k != "progress"}
    car = "MountainCarContinuous-v0"
    config = Config.of({"env": car, "algorithm": "naf", **settings})
    given = prepare(config, lambda: Louder(gymnasium.make(car), 2.0)).provenance
    with pytest.raises(FreqdynaError, match=f"{car!r} was passed in Python; give it"):
        environment_of_run(config, None, given, "give it")
    named = prepare(config)
    assert callable(environment_of_run(config, None, named.provenance, ""))
    named.block.close()
