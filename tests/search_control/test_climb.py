from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import found, make_search

from freqdyna.search_control.climb import HillClimb, cholesky

KEY = jax.random.key(0)


class Climb(HillClimb):
    """Climbs of any objective."""

    def propose(self, search, key):
        raise NotImplementedError


def make_climb(**settings):
    return Climb(**{"noise": 0.0} | settings)


def climb_from(start, f, climb, key=KEY, **search):
    return climbed(make_search(f, [start], **search), f, climb, key)


def climbed(search, f, climb, key=KEY):
    return jax.jit(lambda key: climb.climb_from_visited(search, f, key))(key)


def quadratic(s):
    return -jnp.sum((s - jnp.array([0.5, -0.25])) ** 2)


def test_reaches_the_maximum_of_a_quadratic():
    climb = make_climb(states=200, limit=400)
    states = found(climb_from((-1.0, 1.0), quadratic, climb))
    assert np.linalg.norm(states[-1] - (0.5, -0.25)) <= 0.011  # one step of 0.01
    distances = np.linalg.norm(states - (0.5, -0.25), axis=1)
    assert np.all(np.diff(distances[:150]) < 0)


@pytest.mark.slow
def test_climbs_the_local_frequency_of_f_sin_into_the_fast_half():
    def f_sin(s):
        return jnp.where(s[0] < 0, jnp.sin(8 * jnp.pi * s[0]), jnp.sin(jnp.pi * s[0]))

    search = make_search(f_sin, [(-0.03,)], low=(-2.0,), high=(2.0,))

    def g(s):
        return search.derivatives(s).frequency()

    climb = make_climb(states=40, step_size=0.001, limit=200)
    states = found(climbed(search, g, climb))
    # On the fast half g = (8π)² cos² + (8π)⁴ sin², which is greatest where |sin(8πx)| = 1.
    assert abs(states[-1][0] - (-1 / 16)) <= 0.0011


@pytest.mark.slow
def test_the_identity_does_not_turn_as_the_covariance_would():
    climb = make_climb(preconditioner="identity")
    covariance = [[1.0, 0.0], [0.0, 1e-4]]
    states = found(climb_from((0.0, 0.0), lambda s: s[0] + 10 * s[1], climb, covariance=covariance))
    direction = (states[1] - states[0]) / 0.01
    np.testing.assert_allclose(direction, np.array([1, 10]) / np.sqrt(101), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "factor"),
    [
        ({"noise_scales": "variance"}, 0.1),
        # The start has independent noise of the same kind.
        ({"noise_scales": "deviation", "noise_on_start": True}, 0.01 * np.sqrt(2)),
    ],
    ids=["variance", "deviation, also on the start"],
)
def test_the_noise_has_the_stated_covariance(settings, factor):
    covariance = np.array([[0.5, 0.3], [0.3, 0.4]])
    climb = make_climb(**settings, states=1, limit=1, noise=0.01)
    keys = jax.random.split(KEY, 40_000)
    f = lambda s: 0.0 * s[0]  # noqa: E731
    search = make_search(f, [(0.0, 0.0)], covariance=np.float32(covariance))
    states = jax.jit(jax.vmap(lambda key: climb.climb_from_visited(search, f, key).states[0]))(keys)
    measured = np.cov(np.asarray(states).T) / factor**2
    # Five standard errors of a covariance estimated from 40,000 draws.
    np.testing.assert_allclose(measured, covariance, atol=5 * 0.5 * np.sqrt(2 / 40_000))


def test_a_state_is_stored_only_when_far_enough_from_the_one_before():
    root = np.sqrt(2)  # distances are divided by √n
    climb = make_climb(states=5, step_size=0.01)
    proposal = climb_from((0.0, 0.0), lambda s: s[0], climb, mean_step=0.0251 / root)
    np.testing.assert_allclose(found(proposal)[:, 0], 0.03 * np.arange(1, 6), atol=1e-5)
    assert proposal.iterations == 15
    nothing = climb_from((0.0, 0.0), lambda s: s[0], climb, mean_step=10.0)
    assert (int(nothing.count), int(nothing.iterations)) == (0, 200)


def test_leaving_the_space_starts_a_new_climb_and_keeps_what_was_found():
    climb = make_climb(states=20)
    proposal = climb_from((1.955, 0.0), lambda s: s[0], climb)
    states = found(proposal)
    assert len(states) == 20
    assert states[:, 0].max() <= 2.0
    # Four states, then a step across the edge that is not stored, then anew from the start.
    np.testing.assert_allclose(states[:8, 0], [1.965, 1.975, 1.985, 1.995] * 2, atol=1e-5)
    assert proposal.restarts == 4
    assert proposal.iterations == 24


def test_a_climb_that_is_stuck_in_a_corner_restarts_if_that_is_set():
    climb = make_climb(boundary="project", limit=50, restart_when_stuck=True)
    proposal = climb_from((1.985, 1.985), lambda s: s[0] + s[1], climb)
    # Three steps to the corner; a fourth, which does not move the state, ends the climb.
    assert proposal.restarts == 20 // 3
    assert proposal.count == 20


def test_terminal_states_are_rejected():
    climb = make_climb(states=30)
    proposal = climb_from((0.0, 0.0), lambda s: s[0], climb, terminal=lambda s: s[0] > 0.1)
    assert found(proposal)[:, 0].max() <= 0.1
    assert proposal.restarts > 0


@pytest.mark.parametrize(
    "f",
    [lambda s: 1e-9 * s[0], lambda s: jnp.nan * s[0]],
    ids=["nearly flat", "nan"],
)
def test_a_direction_that_vanishes_or_is_not_finite_leaves_the_noise_to_move(f):
    climb = make_climb(noise=0.01, limit=50, states=10)
    proposal = climb_from((0.0, 0.0), f, climb, mean_step=0.01)
    assert proposal.vanished >= 1
    assert np.isfinite(found(proposal)).all()
    assert proposal.count > 0


@pytest.mark.default_compiler
def test_numpy_retraces_a_climb_from_its_random_numbers():
    climb = make_climb(states=4, noise=0.01)
    covariance = [[0.02, 0.01], [0.01, 0.03]]
    proposal = climb_from((0.0, 0.0), quadratic, climb, jax.random.key(42), covariance=covariance)
    normals = np.asarray(jax.random.normal(jax.random.split(jax.random.key(42))[1], (200, 2)))
    lower = np.linalg.cholesky(np.array(covariance))
    state, trace = np.zeros(2), []
    for noise in normals[:4]:
        direction = np.array(covariance) @ (-2 * (state - (0.5, -0.25)))
        state = state + 0.01 * direction / np.linalg.norm(direction) + 0.1 * lower @ noise
        trace.append(state)
    np.testing.assert_allclose(found(proposal), trace, atol=1e-6)


factored = jax.jit(cholesky)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.sampled_from([1, 2, 5]), st.integers(0, 4), st.integers(0, 2**31 - 1))
def test_cholesky_factors_any_semi_definite_matrix(n, rank, seed):
    half = np.random.default_rng(seed).normal(size=(n, min(rank, n))).astype(np.float32)
    matrix = half @ half.T
    factor = np.asarray(factored(matrix))
    assert np.all(np.triu(factor, 1) == 0)
    np.testing.assert_allclose(factor @ factor.T, matrix, atol=2e-3 * (1 + np.abs(matrix).max()))


@pytest.mark.slow
def test_every_state_of_a_climb_lies_on_the_manifold():
    search = make_search(quadratic, [(0.0, 1.0)])
    circle = replace(search, on_manifold=lambda s: s / jnp.linalg.norm(s))
    states = found(climbed(circle, quadratic, make_climb()))
    np.testing.assert_allclose(np.linalg.norm(states, axis=1), 1.0, rtol=1e-5)
    assert quadratic(states[-1]) > quadratic(states[0])
