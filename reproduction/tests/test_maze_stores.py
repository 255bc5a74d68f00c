"""F8's comparison of queue and replay buffer, on states and networks that are known."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from freqdyna.agents.networks.mlp import Network
from freqdyna.config import Config
from freqdyna.results.record import Record
from reproduction.base import Stored
from reproduction.parts.f8 import stores


def test_samples_of_one_distribution_have_no_distance():
    generator = np.random.default_rng(1)
    drawn = generator.uniform(size=(40, 1000, 2))
    assert abs(stores.distance(drawn[:20], drawn[20:]).mean()) < 1.0
    many, others = generator.uniform(size=(2, 1, 100_000, 2))
    left, right = many * [0.5, 1.0], np.array([0.5, 0.0]) + many * [0.5, 1.0]
    np.testing.assert_allclose(stores.distance(left, others), 50.0, atol=3.0)
    np.testing.assert_allclose(stores.distance(left, right), 100.0, atol=3.0)


def test_a_lead_is_the_probability_of_a_greater_number():
    low, high = np.arange(4.0)[None], np.arange(4.0)[None] + 10
    np.testing.assert_allclose(stores.lead(high, low), 50.0)
    np.testing.assert_allclose(stores.lead(low, high), -50.0)
    np.testing.assert_allclose(stores.lead(low, low), 0.0)
    np.testing.assert_allclose(stores.lead(np.array([[1.0, 9.0]]), np.array([[0.0, 5.0]])), 25.0)


def test_values_are_those_of_the_seeds_that_learned():
    """V = tanh(x) for the first action, and −1 for the others; the second seed's is −tanh(x)."""
    weights = jnp.array([[1.0], [0.0]]), jnp.array([[1.0, 0.0, 0.0, 0.0]])
    network = Network(weights, (jnp.zeros(1), jnp.array([0.0, -1.0, -1.0, -1.0])))
    turned = replace(network, weights=(weights[0], -weights[1]))
    flat = np.stack([np.asarray(ravel_pytree(one)[0]) for one in (network, turned, network)])
    drawn = np.random.default_rng(0).uniform(size=(3, 5, 2))
    returns = np.repeat([[-100.0], [-150.0], [-2000.0]], 10, axis=1)
    record = Record(
        Config(env="MazeGridWorld", algorithm="dyna-value", seeds=3, hidden=(1,)),
        {},
        np.arange(3),
        np.arange(1, 11) * 5000,
        {"return": returns},
        flat,
        (2, 1, 4),
        {50_000: {"queue": drawn, "replay": drawn}},
    )
    stored = Stored({}, {}, {}, record)
    signs = np.array([[1.0], [-1.0]])
    np.testing.assert_allclose(
        stores.values(stored, "queue"), np.maximum(signs * np.tanh(drawn[:2, :, 0]), -1), atol=1e-5
    )
    both = dict.fromkeys(("Dyna-Frequency", "Dyna-Value"), stored)
    assert stores.has_values(both)
    without = replace(stored, record=replace(record, parameters=np.zeros((3, 0))))
    assert not stores.has_values(both | {"Dyna-Value": without})
