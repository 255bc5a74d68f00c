"""B and D, on surfaces and networks whose derivatives are known."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from freqdyna import envs
from freqdyna.agents.networks import Network, init_network, tanh
from reproduction import b, d
from reproduction.b import Surfaces
from reproduction.study import Stored, Unit

CAR = "MountainCar-v0"


def stored(env, *networks, hidden, last_return=-100.0):
    flat = np.stack([np.asarray(ravel_pytree(network)[0]) for network in networks])
    returns = np.broadcast_to(last_return, len(flat))
    columns = {
        "seed": np.repeat(np.arange(len(flat)), flat.shape[1]),
        "last_return": np.repeat(returns, flat.shape[1]),
        "parameter": flat.ravel(),
    }
    return Stored(Unit("", {"env": env, "algorithm": "er", "learner.hidden": hidden}), columns, {})


def test_surfaces_are_those_of_a_network_whose_derivatives_are_known():
    """V = tanh(x) for the first action, and −1 for the others."""
    weights = jnp.array([[1.0], [0.0]]), jnp.array([[1.0, 0.0, 0.0]])
    biases = jnp.zeros(1), jnp.array([0.0, -1.0, -1.0])
    surfaces = Surfaces.of(stored(CAR, Network(weights, biases, tanh), hidden=(1,)))
    env = envs.make(CAR)
    x = np.repeat(np.linspace(env.low[0], env.high[0], 64), 64)
    slope = 1 - np.tanh(x) ** 2
    np.testing.assert_allclose(surfaces.value[0], np.tanh(x), atol=1e-5)
    np.testing.assert_allclose(surfaces.gradient[0], slope, atol=1e-5)
    np.testing.assert_allclose(surfaces.hessian[0], np.abs(2 * np.tanh(x) * slope), atol=1e-5)
    width, height = env.high[0] - env.low[0], np.ptp(np.tanh(x))
    np.testing.assert_allclose(
        surfaces.scaled_hessian, surfaces.hessian * width**2 / height, rtol=1e-4
    )


def test_only_seeds_that_solved_their_environment_decide():
    networks = [init_network(jax.random.key(seed), (2, 4, 3)) for seed in range(2)]
    some = stored(CAR, *networks, hidden=(4,), last_return=np.array([-500.0, -110.0]))
    assert b.chosen_seeds(some).tolist() == [1]
    none = stored(CAR, *networks, hidden=(4,), last_return=np.array([-500.0, np.nan]))
    assert b.chosen_seeds(none).tolist() == [0]
    assert {claim.verdict for claim in b.analyse({CAR: none}).claims} == {"undecided"}


def test_g_and_bandwidth_rank_regions_alike_where_the_frequency_grows_along_x():
    env = envs.make("MazeGridWorld")
    x = np.linspace(0, 1, 64)[:, None] + np.zeros(64)
    phase = 2 * math.pi * (4 * x + 10 * x**2)
    speed = np.abs(np.gradient(phase, x[:, 0], axis=0))
    for size in b.SIZES:
        regions = b.regions_of(env, np.sin(phase) + 30 * x, speed**4, size)
        assert b.rank_correlation(regions, "bandwidth") > 0.9


def test_shares_are_of_points_in_opposite_quarters():
    rising = np.arange(100.0)[None]
    opposite = Surfaces(rising, rising, rising[:, ::-1], rising)
    np.testing.assert_allclose(d.shares(opposite), 25.0)
    np.testing.assert_allclose(d.shares(Surfaces(rising, rising, rising, rising)), 0.0)


def test_agreement_leaves_out_the_seed_itself():
    rising = np.arange(10.0)
    without, noisy = d.agreement(np.stack([rising, rising, -rising]), rising[None])
    np.testing.assert_allclose(without, [0.0, 0.0, -100.0], atol=1e-9)
    np.testing.assert_allclose(noisy, 100 / 3)
