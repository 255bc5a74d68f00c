"""Activations, initial weights, and the frequency of their values."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import frequency
from freqdyna.agents.networks import (
    ACTIVATIONS,
    StateValue,
    init_network,
    init_xavier,
    tanh,
)


def test_tanh_is_as_near_to_tanh_as_float32_allows():
    x = np.concatenate([np.linspace(-15, 15, 400_001), np.geomspace(1e-30, 1, 10_001)])
    x = x.astype(np.float32)
    ours, exact = np.asarray(tanh(jnp.asarray(x))), np.tanh(x.astype(np.float64))
    np.testing.assert_allclose(ours, exact, rtol=5e-7)  # four units in the last place
    assert np.abs(ours).max() <= 1  # or the slope 1 − tanh² would be negative
    np.testing.assert_allclose(tanh(jnp.array([9.0, 50.0, 1e30, np.inf])), 1, rtol=2e-7)
    assert np.isnan(tanh(jnp.array(np.nan)))
    assert tanh(jnp.zeros(())) == 0
    with jax.enable_x64(True):
        x = jnp.linspace(-10, 10, 101)
        np.testing.assert_array_equal(tanh(x), jnp.tanh(x))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "layer_norm"),
    [("silu", 3, True), ("silu", 4, True), ("tanh", 2, False), ("relu", 2, False)],
)
def test_the_local_frequency_of_a_network_is_exact(name, n, layer_norm):
    with jax.enable_x64(True):
        network = init_xavier(jax.random.key(n), (n, 6, 5, 2), ACTIVATIONS[name])
        network = replace(network, layer_norm=layer_norm)
        value = StateValue(jax.tree.map(lambda leaf: 2 * leaf.astype(jnp.float64), network))

        @jax.jit
        def both(state):
            auto = frequency.Derivatives.of(value, state)
            slope = frequency.local_frequency_gradient(value, state, 0.7, 1.3)
            return value.derivatives(state), value.slopes(state, 0.7, 1.3), auto, slope

        state = jnp.asarray(np.random.default_rng(n).normal(size=n))
        ours, (our_slope, gradient), auto, slope = both(state)
        np.testing.assert_allclose(ours.value, auto.value, rtol=1e-12)
        np.testing.assert_allclose(ours.gradient, auto.gradient, rtol=1e-9)
        np.testing.assert_allclose(gradient, auto.gradient, rtol=1e-9)
        np.testing.assert_allclose(ours.hessian, auto.hessian, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(our_slope, slope, rtol=1e-9, atol=1e-12)
        assert (np.abs(auto.gradient) > 1e-3).all()


def test_fast_gradients_are_the_gradients():
    network = init_network(jax.random.key(0), (3, 8, 8, 1))
    network = replace(network, activation=ACTIVATIONS["silu"], layer_norm=True)
    inputs = jax.random.normal(jax.random.key(1), (5, 3))

    def gradient(network):
        return jax.grad(lambda network: (jax.vmap(network)(inputs) ** 2).sum())(network).weights

    fast = replace(network.with_fast_gradients(), recomputes=True)
    for ours, theirs in zip(gradient(fast), gradient(network), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max())


def test_initialisation_is_the_papers():
    network = jax.jit(lambda key: init_network(key, (2, 400, 300, 3)))(jax.random.key(0))
    for weight in network.weights[:-1]:  # Xavier uniform: U(±sqrt(6 / (inputs + outputs)))
        limit = np.sqrt(6 / sum(weight.shape))
        assert 0.98 * limit < np.abs(weight).max() <= limit
    for bias in network.biases[:-1]:
        assert not bias.any()
    for output in (network.weights[-1], network.biases[-1]):
        assert np.abs(output).max() <= 0.003
    assert np.abs(network.weights[-1]).max() > 0.00295
