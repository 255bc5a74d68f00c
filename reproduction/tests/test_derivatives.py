"""D, on surfaces and networks whose derivatives are known."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from freqdyna import envs
from freqdyna.agents.networks.mlp import Network, init_network
from freqdyna.agents.networks.tanh import tanh
from freqdyna.results.draw_matplotlib import draw
from reproduction import registry
from reproduction.base import Stored
from reproduction.parts.derivatives import analysis, units
from reproduction.parts.derivatives.surfaces import Surfaces, surfaces


def stored(env, *networks, hidden, last_return=-100.0):
    flat = np.stack([np.asarray(ravel_pytree(network)[0]) for network in networks])
    seeds = np.arange(len(flat))
    columns = {
        "seed": np.repeat(seeds, flat.shape[1]),
        "last_return": np.full(flat.size, last_return),
        "parameter": flat.ravel(),
    }
    return Stored(columns, {"env": env, "hidden": hidden}, {})


def test_surfaces_are_those_of_a_network_whose_derivatives_are_known():
    """V = tanh(x) for the first action, and −1 for the others."""
    weights = jnp.array([[1.0], [0.0]]), jnp.array([[1.0, 0.0, 0.0]])
    biases = jnp.zeros(1), jnp.array([0.0, -1.0, -1.0])
    network = Network(weights, biases, tanh)
    found = surfaces(stored("MountainCar-v0", network, hidden=[1]), np.array([0]))
    env = envs.make("MountainCar-v0")
    x = np.repeat(np.linspace(env.low[0], env.high[0], 64), 64)
    slope = 1 - np.tanh(x) ** 2
    np.testing.assert_allclose(found.value[0], np.tanh(x), atol=1e-5)
    np.testing.assert_allclose(found.gradient[0], slope, atol=1e-5)
    np.testing.assert_allclose(found.hessian[0], np.abs(2 * np.tanh(x) * slope), atol=1e-5)
    np.testing.assert_allclose(found.frequency, found.gradient**2 + found.hessian**2)
    width, height = env.high[0] - env.low[0], np.ptp(np.tanh(x))
    np.testing.assert_allclose(found.scaled_hessian, found.hessian * width**2 / height, rtol=1e-4)


def test_shares_are_of_points_in_opposite_quarters():
    rising = np.arange(100.0)[None]
    opposite = Surfaces(rising, rising, rising[:, ::-1], rising)
    np.testing.assert_allclose(analysis.shares(opposite), 25.0)
    np.testing.assert_allclose(analysis.shares(Surfaces(rising, rising, rising, rising)), 0.0)


def test_rank_correlations_are_means_over_the_other_rows():
    rising = np.arange(10.0)
    falling, cubed = -rising, rising**3
    np.testing.assert_allclose(
        analysis.rank_correlations(np.stack([rising, cubed]), falling[None]), -1.0
    )
    found = analysis.rank_correlations(rising[None], np.stack([falling, cubed, cubed]))
    np.testing.assert_allclose(found, 1 / 3)


def test_what_needs_a_training_that_is_not_stored_is_omitted(tmp_path):
    keys = jax.random.split(jax.random.key(0), 3)
    networks = [init_network(key, (2, 4, 3)) for key in keys]
    car, noisy = (stored("MountainCar-v0", *pair, hidden=[4]) for pair in (networks[:2], networks))
    found = registry.find("D").analyse({units.CAR: car})
    assert len(found.claims) == 2
    draw(found.chart).savefig(tmp_path / "figure.png")
    both = registry.find("D").analyse({units.CAR: car, units.NOISY: noisy})
    assert [claim.rule for claim in both.claims] == ["difference"] * 2 + ["comparison"] * 2
    assert "Effect of noise" in both.notes[1]


def test_agreement_leaves_out_the_seed_itself():
    rising = np.arange(10.0)
    without, noisy = analysis.agreement(np.stack([rising, rising, -rising]), rising[None])
    np.testing.assert_allclose(without, [0.0, 0.0, -100.0], atol=1e-9)
    np.testing.assert_allclose(noisy, 100 / 3)


def test_rare_points_do_not_refute_that_something_may_occur():
    found = analysis._may_occur("", np.array([0.1, 0.1, 0.0, 0.2]), rows=1)
    assert (found.ours, found.verdict) == ("-0.9; such points in 3 of 4 seeds", "undecided")
    assert analysis._may_occur("", np.array([5.0, 6.0, 7.0]), rows=1).verdict == "holds"
