from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search

from freqdyna import envs
from freqdyna.search_control import SEARCH_CONTROLS

KEY = jax.random.key(0)
COVARIANCE = [[0.5, 0.2], [0.2, 0.3]]
STILL = {"noise": 0.0, "states": 4}


def hills(s):
    return jnp.sin(2 * s[0]) * jnp.cos(3 * s[1]) + s[0] ** 2


def make(name, **settings):
    return SEARCH_CONTROLS[name](**STILL | settings)


def propose(name, search, **settings):
    control = make(name, **settings)
    return jax.jit(lambda key: control.propose(search, key))(KEY)


OF_V = {"probability": 0.0}


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_one_iteration_is_one_step_of_a_hill_climb(probability):
    search = make_search(hills, [(0.3, 0.2)], [(0.6, -0.4)], covariance=COVARIANCE)
    settings = {"probability": probability}
    alone = found(propose("frequency", search, **settings, states=1, limit=1))
    together = propose("parallel-frequency", search, **settings, iterations=1)
    np.testing.assert_allclose(found(together), np.repeat(alone, 4, axis=0), atol=1e-6)
    assert (int(together.iterations), int(together.restarts), int(together.vanished)) == (4, 0, 0)


def test_the_noise_is_that_of_a_hill_climb():
    search = make_search(lambda s: 0.0 * s[0], [(0.0, 0.0)], covariance=COVARIANCE)
    settings = {"iterations": 1, "noise": 0.01, "states": 20_000}
    states = found(propose("parallel-frequency", search, **OF_V, **settings))
    # Five standard errors of a variance of 0.5.
    np.testing.assert_allclose(np.cov(states.T), 0.01 * np.array(COVARIANCE), atol=2.5e-4)


def test_the_rule_of_each_climber_is_drawn_and_its_steps_are_counted():
    # V is linear: g is constant, so that only climbers of V have a direction.
    search = make_search(lambda s: s[0], [(0.0, 0.0)], [(1.0, 1.0)])
    settings = {"probability": 0.3, "states": 1000, "iterations": 2}
    proposal = propose("parallel-frequency", search, **settings)
    of_g = int((found(proposal)[:, 1] == 1).sum())
    assert abs(of_g - 300) < 5 * np.sqrt(210)
    assert proposal.by_rule.tolist() == [[2 * of_g, 2 * of_g], [2000 - 2 * of_g, 0]]
    assert int(proposal.vanished) == 2 * of_g


def test_persistent_climbers_continue_where_they_were():
    search = make_search(hills, [(0.3, 0.2)], [(0.6, -0.4)], covariance=COVARIANCE)
    control = make("parallel-frequency", iterations=2, persistent=True)
    step = jax.jit(lambda memory, key: control.propose(replace(search, memory=memory), key))
    memory = control.init(envs.make("GridWorld"), KEY)
    assert not memory.alive
    first = step(memory, KEY)
    second = step(first.memory, jax.random.key(1))
    # Without noise, and by the rule drawn at the first step, as in four iterations.
    np.testing.assert_array_equal(second.memory.rules, first.memory.rules)
    assert 0 < int(first.memory.rules.sum()) < 4
    four = propose("parallel-frequency", search, iterations=4)
    np.testing.assert_allclose(second.states, four.states, atol=1e-5)
    assert make("parallel-frequency").init(envs.make("GridWorld"), KEY) is None


@pytest.mark.parametrize("boundary", ["restart", "project"])
def test_a_climber_that_leaves_the_space_restarts_or_is_projected(boundary):
    search = make_search(lambda s: s[0], [(1.985, 0.0)])
    settings = {"iterations": 3, "boundary": boundary, "states": 2}
    proposal = propose("parallel-frequency", search, **OF_V, **settings)
    expected, restarts = {"restart": (1.995, 2), "project": (2.0, 0)}[boundary]
    # 1.995, then 2.005 outside: back to the start, and 1.995 again; or to the edge.
    np.testing.assert_allclose(found(proposal)[:, 0], expected, atol=1e-6)
    assert proposal.restarts == restarts


@pytest.mark.parametrize("keep", [False, True])
def test_terminal_states_are_proposed_only_if_they_are_kept(keep):
    search = make_search(lambda s: s[0], [(0.095, 0.0)], terminal=lambda s: s[0] > 0.1)
    settings = {"iterations": 1, "keep_terminal": keep}
    states = found(propose("parallel-frequency", search, **OF_V, **settings))
    np.testing.assert_allclose(states[:, 0], 0.105 if keep else 0.095, atol=1e-6)
