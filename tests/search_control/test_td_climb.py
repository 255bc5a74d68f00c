from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from searches import found, make_search, with_error

from freqdyna.search_control import TDClimb

KEY = jax.random.key(0)
COVARIANCE = [[1.0, 0.5], [0.5, 0.5]]
WIDE = {"low": (-1e3, -1e3), "high": (1e3, 1e3)}


def propose(search, covariance=((1.0, 0.0), (0.0, 1.0)), **settings):
    control = TDClimb(**settings)
    jitted = jax.jit(lambda key, sigma: control.propose(replace(search, covariance=sigma), key))
    return jitted(KEY, jnp.asarray(covariance))


def test_climbers_are_distributed_as_the_error():
    """|error| is proportional to a normal density, which Langevin dynamics must find."""
    precision, sigma = np.linalg.inv(COVARIANCE), [[0.5, 0.0], [0.0, 0.25]]

    def error(s):
        return 1000 * jnp.exp(-s @ jnp.float32(precision) @ s / 2)

    search = with_error(make_search(lambda s: s[0], [(0.0, 0.0)], **WIDE), error)
    m, step = 5000, 0.2
    proposal = propose(search, sigma, states=m, iterations=40, step_size=step)
    states = found(proposal)
    assert len(states) == m
    assert (int(proposal.iterations), int(proposal.restarts)) == (40 * m, 0)
    # Steps are not infinitely small: s ← (I − α/2 ΣP) s + √α Σ^½ X has a larger covariance.
    expected, move = np.zeros((2, 2)), np.eye(2) - step / 2 * np.array(sigma) @ precision
    for _ in range(1000):
        expected = move @ expected @ move.T + step * np.array(sigma)
    assert np.abs(expected - COVARIANCE).max() < 0.12
    # Five standard errors of a variance of 1 estimated from 5,000 states.
    np.testing.assert_allclose(np.cov(states.T), expected, atol=5 * np.sqrt(2 / m))
    np.testing.assert_allclose(states.mean(0), 0, atol=5 / np.sqrt(m))


def test_without_a_slope_of_the_error_only_noise_moves_climbers():
    flat = with_error(make_search(lambda s: s[0], [(0.0, 0.0)], **WIDE), lambda s: jnp.nan)
    m = 2000
    proposal = propose(flat, states=m, iterations=3, step_size=0.04)
    assert int(proposal.vanished) == 3 * m
    states = found(proposal)
    assert len(states) == m
    # Three steps with variance 0.04 each.
    np.testing.assert_allclose(states.var(0), 0.12, atol=5 * 0.12 * np.sqrt(2 / m))


def test_a_drift_is_never_longer_than_typical_noise():
    steep = with_error(make_search(lambda s: s[0], [(0.0, 0.0)], **WIDE), lambda s: 1e-6 + s[0])
    proposal = propose(steep, states=2000, iterations=1, step_size=0.04)
    # The slope of log |error| is about 1000 at the start; √α = 0.2 is the longest drift.
    np.testing.assert_allclose(found(proposal).mean(0), (0.2, 0), atol=5 * 0.2 / np.sqrt(2000))
