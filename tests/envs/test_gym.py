"""Gymnasium environments: their spaces, one step at a time, and whole runs that fail."""

import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from corridor import SMALL, Corridor
from gymnasium import spaces

import freqdyna
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

RUN = {name: value for name, value in SMALL.items() if not name.startswith("search_control.")}


def corridor_space(limit=30):
    return space_of(Corridor(), limit)


class Fails(Corridor):
    """Raises an error, or exits, in one of its methods."""

    where, error = "", ValueError

    def __init__(self):
        self._fail("create")

    def reset(self, *, seed=None, options=None):
        self._fail("reset")
        return super().reset(seed=seed, options=options)

    def step(self, action):
        self._fail("step")
        return super().step(action)

    def close(self):
        self._fail("close")

    def _fail(self, where):
        if where == self.where:
            raise self.error("the motor is hot")


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_an_error_of_the_users_class_names_the_method_and_the_line(monkeypatch, error):
    slot = Slot(Fails(), corridor_space(), 0, 0)
    slot.begin(0)
    monkeypatch.setattr(Fails, "error", error)
    for where, call in (("reset", lambda: slot.begin(1)), ("step", lambda: slot.step(np.int32(0)))):
        monkeypatch.setattr(Fails, "where", where)
        with pytest.raises(EnvironmentFailed, match=f"{where} raised .*test_gym.py, line"):
            call()
    monkeypatch.setattr(Fails, "where", "close")
    factory = ClosingFactory(Fails)
    make_env(factory)
    factory.close()


def test_an_error_while_creating_keeps_its_class_and_has_a_note(monkeypatch):
    monkeypatch.setattr(Fails, "where", "create")
    with pytest.raises(ValueError, match="the motor is hot") as failed:
        make_env(Fails)
    assert "gymnasium.Env" in failed.value.__notes__[0]


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
    whole = replace(space, action_space=spaces.Box(0, 5, (2,), np.int32))
    assert whole.to_env_action(np.float32([0.4, 4.6])).tolist() == [0, 5]


def test_an_environment_of_mujoco_takes_steps():
    hopper = gymnasium.make("Hopper-v5")
    space = space_of(hopper)
    assert (space.observation_size, space.action_size) == (11, 3)
    slot = Slot(hopper, space, 0, 0)
    slot.begin(0)
    next_state, reward, *_ = slot.step(np.float32([0.5, -0.5, 0.0]))
    assert np.isfinite([*next_state, reward]).all()


@pytest.mark.parametrize(
    ("observations", "actions"),
    [
        (spaces.Dict({"x": spaces.Discrete(2)}), spaces.Discrete(2)),
        (spaces.Box(0, 255, (8, 8, 3)), spaces.Discrete(2)),
        (None, spaces.Discrete(2)),
        (spaces.Box(0, 1, (2,)), spaces.MultiDiscrete([2, 2])),
        (spaces.Box(0, 1, (2,)), spaces.Box(-np.inf, np.inf, (1,))),
    ],
)
def test_spaces_that_are_not_supported_are_refused(observations, actions):
    class Odd(Corridor):
        observation_space, action_space = observations, actions

    with pytest.raises(FreqdynaError):
        space_of(Odd())


class Cut(Corridor):
    """Cut by its own decision after four steps."""

    def step(self, action):
        observation, reward, terminal, _, info = super().step(action)
        return observation, reward, terminal, self.state[1] == 4, info


def test_limits_cut_an_episode_without_ending_it_and_a_goal_ends_it():
    for env, limit in ((Corridor(), 4), (Cut(), 30)):
        slot = Slot(env, corridor_space(limit), 0, 0)
        slot.begin(0)
        outcomes = [slot.step(np.int32(0))[2:] for _ in range(4)]
        assert outcomes == [(False, False)] * 3 + [(False, True)]
    slot = Slot(Corridor(), corridor_space(), 0, 0)
    slot.begin(0)
    outcomes = [slot.step(np.int32(1))[2:] for _ in range(9)]
    assert outcomes[-1] == (True, True) or slot.step(np.int32(1))[2:] == (True, True)


@pytest.mark.parametrize(
    "outcome",
    [
        None,
        (np.zeros(2), 0.0, False, {}),
        (np.zeros(2), np.nan, False, False, {}),
        ({"x": 1}, 0.0, False, False, {}),
        (np.zeros(3), 0.0, False, False, {}),
        (np.full(2, np.nan), 0.0, False, False, {}),
    ],
)
def test_what_is_not_a_step_is_a_failure(outcome):
    class Odd(Corridor):
        def step(self, action):
            return outcome

    slot = Slot(Odd(), corridor_space(), 0, 0)
    slot.begin(0)
    with pytest.raises(EnvironmentFailed):
        slot.step(np.int32(0))


def test_the_state_before_a_new_episode_is_kept_apart_from_its_start():
    hosts = HostEnvs(Corridor, corridor_space(limit=3), np.array([0, 1]))
    hosts.begin()
    last = [hosts.step(np.array([0, 0]), t) for t in range(3)][-1]
    assert last["over"].all()
    assert not last["terminal"].any()
    assert (last["next_state"][:, 1] == 3).all()
    assert (last["observation"][:, 1] == 0).all()


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
        for name, value in theirs.items():
            np.testing.assert_array_equal(ours[name], value)


class Faulty(Corridor):
    """Exits at step 25 of the second seed's environment, as a simulator's own program would."""

    created = 0

    def __init__(self):
        self.number, self.steps = Faulty.created, 0
        Faulty.created += 1

    def step(self, action):
        self.steps += 1
        if self.number == 2 and self.steps >= 25:  # the first one is looked at alone
            sys.exit("the motor is hot")
        return super().step(action)


@pytest.mark.slow
def test_a_failing_environment_ends_its_seed_alone(monkeypatch, tmp_path):
    healthy = freqdyna.train(Corridor, "er", **RUN)
    monkeypatch.setattr(Faulty, "created", 0)
    with pytest.warns(UserWarning, match="25"):
        result = freqdyna.train(Faulty, "er", out=tmp_path / "run", **RUN)
    assert np.isnan(result.returns[1]).all()
    assert np.isnan(result.metrics["loss"][1]).all()
    assert "the motor is hot" in freqdyna.load(tmp_path / "run").provenance["ended"]["1"]["reason"]
    for row in (0, 2):
        np.testing.assert_array_equal(result.returns[row], healthy.returns[row])
        np.testing.assert_array_equal(result.parameters[row], healthy.parameters[row])


@pytest.mark.slow
def test_an_error_of_every_environment_is_raised(monkeypatch):
    monkeypatch.setattr(Fails, "where", "reset")
    with pytest.raises(ValueError, match="the motor is hot") as failed:
        freqdyna.train(Fails, "er", **RUN)
    assert "Fails failed for every seed" in failed.value.__notes__[0]


class Louder(gymnasium.Wrapper):
    """A wrapper as users write them: Gymnasium cannot create it anew."""

    def __init__(self, env, factor):
        super().__init__(env)
        self.factor = factor


def test_every_seed_has_its_own_copy_of_an_object_with_all_that_was_changed():
    env = Louder(gymnasium.make("Pendulum-v1"), 3.0)
    env.unwrapped.g = 1.62
    another = make_env(factory_of(env))
    assert another is not env
    assert (another.factor, another.unwrapped.g) == (3.0, 1.62)
    another.unwrapped.g = 5.0
    assert env.unwrapped.g == 1.62


def test_what_is_no_environment_is_refused():
    two = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    for env in (two, 3, lambda: 3):
        with pytest.raises(FreqdynaError):
            make_env(factory_of(env))
    two.close()
