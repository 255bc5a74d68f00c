import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from freqdyna.agents.networks import init_network, network_from_flat


def test_initialisation_is_the_papers():
    network = init_network(jax.random.key(0), (2, 400, 300, 3))
    for weight in network.weights[:-1]:  # Xavier uniform: U(±sqrt(6 / (inputs + outputs)))
        limit = np.sqrt(6 / sum(weight.shape))
        assert np.abs(weight).max() <= limit
        assert np.abs(weight).max() > 0.98 * limit
    for bias in network.biases[:-1]:
        assert not bias.any()
    for output in (network.weights[-1], network.biases[-1]):
        assert np.abs(output).max() <= 0.003
    assert np.abs(network.weights[-1]).max() > 0.00295


def test_forward_pass_against_numpy():
    network = init_network(jax.random.key(1), (2, 5, 4, 3))
    state = np.array([0.3, -0.7])
    hidden = state
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = np.tanh(hidden @ np.float64(weight) + np.float64(bias))
    expected = hidden @ np.float64(network.weights[-1]) + np.float64(network.biases[-1])
    np.testing.assert_allclose(network(jnp.float32(state)), expected, rtol=1e-5)


def test_a_network_survives_flattening():
    network = init_network(jax.random.key(2), (2, 5, 4, 3))
    flat = ravel_pytree(network)[0]
    again = network_from_flat(flat, (2, 5, 4, 3))
    assert jax.tree.structure(again) == jax.tree.structure(network)
    for new, old in zip(jax.tree.leaves(again), jax.tree.leaves(network), strict=True):
        np.testing.assert_array_equal(new, old)
