import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna.frequency import Derivatives, local_frequency, local_frequency_gradient
from freqdyna.frequency.network import StateValue
from freqdyna.learners.network import Network, init_network


def random_network(seed, n, widths=(12, 9), actions=3):
    """A network with weights large enough to bend."""
    network = init_network(jax.random.key(seed), (n, *widths, actions))
    keys = jax.random.split(jax.random.key(seed + 1), len(network.weights))
    return Network(
        tuple(jax.random.normal(k, w.shape) for k, w in zip(keys, network.weights, strict=True)),
        tuple(jax.random.normal(k, b.shape) for k, b in zip(keys, network.biases, strict=True)),
    )


def test_of_a_quadratic_is_its_closed_form():
    matrix = jnp.array([[2.0, 1.0], [1.0, -3.0]])
    x = jnp.array([0.5, -1.0])

    def f(y):
        return 0.5 * y @ matrix @ y

    gradient = matrix @ x
    expected = 2.0 * jnp.sum(gradient**2) + 3.0 * jnp.sum(matrix**2)
    assert local_frequency(f, x, 2.0, 3.0) == pytest.approx(float(expected), rel=1e-6)
    slope = local_frequency_gradient(f, x, 2.0, 3.0)
    np.testing.assert_allclose(slope, 2.0 * 2 * matrix @ gradient, rtol=1e-6)
    assert freqdyna.local_frequency is local_frequency


def test_of_a_sine_is_its_closed_form():
    frequency, x = 8 * np.pi, 0.3
    g = local_frequency(lambda y: jnp.sin(frequency * y[0]), jnp.array([x]))
    first, second = frequency * np.cos(frequency * x), frequency**2 * np.sin(frequency * x)
    assert float(g) == pytest.approx(first**2 + second**2, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11, 17])
def test_the_closed_form_for_networks_equals_automatic_differentiation(n):
    value = StateValue(random_network(n, n))
    states = [jax.random.normal(jax.random.key(seed), (n,)) for seed in range(5)]
    # Rounding goes with the size of the terms, not with that of their sum, which may be small.
    scale = max(float(jnp.abs(Derivatives.of(value, s).hessian).max()) for s in states) + 1
    for state in states:
        ours, auto = value.derivatives(state), Derivatives.of(value, state)
        np.testing.assert_allclose(ours.value, auto.value, rtol=1e-5, atol=2e-6)
        np.testing.assert_allclose(ours.gradient, auto.gradient, atol=1e-5 * scale)
        np.testing.assert_allclose(ours.hessian, auto.hessian, atol=1e-5 * scale)
        ours_slope, ours_gradient = value.slopes(state, 0.7, 1.3)
        auto_slope = local_frequency_gradient(value, state, 0.7, 1.3)
        tolerance = 1e-4 * float(jnp.abs(auto_slope).max()) + 1e-5 * scale**2
        np.testing.assert_allclose(ours_slope, auto_slope, atol=tolerance)
        np.testing.assert_allclose(ours_gradient, auto.gradient, atol=1e-5 * scale)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("widths", [(12,), (12, 9), (7, 6, 5)])
def test_derivatives_agree_with_finite_differences_in_float64(n, widths):
    with jax.enable_x64(True):
        network = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), random_network(n, n, widths))
        value = StateValue(network)
        state = jnp.asarray(np.random.default_rng(n).normal(size=n))
        step = 1e-5

        def difference(function):
            moves = step * np.eye(n)
            return np.stack(
                [(function(state + m) - function(state - m)) / (2 * step) for m in moves]
            )

        derivatives = value.derivatives(state)
        np.testing.assert_allclose(derivatives.gradient, difference(value), rtol=1e-6, atol=1e-8)
        hessian = difference(lambda s: np.asarray(value.derivatives(s).gradient))
        np.testing.assert_allclose(derivatives.hessian, hessian, rtol=1e-6, atol=1e-7)
        slope, _ = value.slopes(state, 1.0, 1.0)
        expected = difference(lambda s: np.asarray(value.derivatives(s).frequency()))
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-5)


def test_the_value_is_that_of_the_best_action():
    network = random_network(0, 2)
    state = jnp.array([0.1, 0.2])
    assert StateValue(network)(state) == network(state).max()
