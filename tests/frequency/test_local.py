from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna.agents.networks.mlp import Network, init_network
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.frequency import Derivatives, local_frequency, local_frequency_gradient


@partial(jax.jit, static_argnames=("seed", "n", "widths", "actions"))
def random_network(seed, n, widths=(12, 9), actions=3):
    """A network with weights large enough to bend."""
    network = init_network(jax.random.key(seed), (n, *widths, actions))
    keys = jax.random.split(jax.random.key(seed + 1), len(network.weights))
    return Network(
        tuple(jax.random.normal(k, w.shape) for k, w in zip(keys, network.weights, strict=True)),
        tuple(jax.random.normal(k, b.shape) for k, b in zip(keys, network.biases, strict=True)),
    )


@pytest.mark.default_compiler
def test_of_a_quadratic_is_its_closed_form():
    matrix, x = np.float32([[2.0, 1.0], [1.0, -3.0]]), np.float32([0.5, -1.0])

    def f(y):
        return 0.5 * y @ matrix @ y

    gradient = matrix @ x
    expected = 2.0 * np.sum(gradient**2) + 3.0 * np.sum(matrix**2)
    of = jax.jit(
        lambda x: (local_frequency(f, x, 2.0, 3.0), local_frequency_gradient(f, x, 2.0, 3.0))
    )
    found, slope = of(x)
    assert found == pytest.approx(float(expected), rel=1e-6)
    np.testing.assert_allclose(slope, 2.0 * 2 * matrix @ gradient, rtol=1e-6)
    assert freqdyna.local_frequency is local_frequency


def test_of_a_sine_is_its_closed_form():
    frequency, x = 8 * np.pi, 0.3
    g = jax.jit(partial(local_frequency, lambda y: jnp.sin(frequency * y[0])))(jnp.array([x]))
    first, second = frequency * np.cos(frequency * x), frequency**2 * np.sin(frequency * x)
    assert float(g) == pytest.approx(first**2 + second**2, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 6, 17])
def test_the_closed_form_for_networks_equals_automatic_differentiation(n):
    value = StateValue(random_network(n, n))

    @jax.jit
    @jax.vmap
    def both(state):
        auto = Derivatives.of(value, state), local_frequency_gradient(value, state, 0.7, 1.3)
        return (value.derivatives(state), *value.slopes(state, 0.7, 1.3)), auto

    states = jax.random.normal(jax.random.key(0), (5, n))
    (ours, ours_slope, ours_gradient), (auto, auto_slope) = both(states)
    # Rounding goes with the size of the terms, not with that of their sum, which may be small.
    scale = float(np.abs(auto.hessian).max()) + 1
    np.testing.assert_allclose(ours.value, auto.value, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(ours.gradient, auto.gradient, atol=1e-5 * scale)
    np.testing.assert_allclose(ours.hessian, auto.hessian, atol=1e-5 * scale)
    np.testing.assert_allclose(ours_gradient, auto.gradient, atol=1e-5 * scale)
    for slope, expected in zip(ours_slope, auto_slope, strict=True):
        tolerance = 1e-4 * float(np.abs(expected).max()) + 1e-5 * scale**2
        np.testing.assert_allclose(slope, expected, atol=tolerance)


@pytest.mark.parametrize(
    ("n", "widths"), [(1, (12,)), (2, (12, 9)), (3, (7, 6, 5)), (5, (12, 9)), (9, (7,))]
)
def test_derivatives_agree_with_finite_differences_in_float64(n, widths):
    with jax.enable_x64(True):
        network = jax.tree.map(lambda leaf: np.float64(leaf), random_network(n, n, widths))
        value = StateValue(jax.tree.map(jnp.asarray, network))
        state = np.random.default_rng(n).normal(size=n)
        step = 1e-5

        @jax.jit
        @jax.vmap
        def at(where):
            found = value.derivatives(where)
            return value(where), found, found.frequency(), value.slopes(where, 1.0, 1.0)[0]

        moves = step * np.eye(n)
        values, derivatives, frequencies, slopes = at(
            np.concatenate([state[None], state + moves, state - moves])
        )

        def difference(values):
            values = np.asarray(values)
            return (values[1 : n + 1] - values[n + 1 :]) / (2 * step)

        gradients = derivatives.gradient
        np.testing.assert_allclose(gradients[0], difference(values), rtol=1e-6, atol=1e-8)
        hessian = difference(gradients)
        np.testing.assert_allclose(derivatives.hessian[0], hessian, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(slopes[0], difference(frequencies), rtol=1e-6, atol=1e-5)


def test_the_value_is_that_of_the_best_action():
    network = random_network(0, 2)
    state = jnp.array([0.1, 0.2])
    value, values = jax.jit(lambda s: (StateValue(network)(s), network(s)))(state)
    assert value == np.max(values)
