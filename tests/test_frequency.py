"""g and its gradient: closed forms, finite differences, networks, and estimates from probes."""

import itertools
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.networks import (
    ACTIVATIONS,
    Network,
    StateValue,
    init_network,
    init_xavier,
)
from freqdyna.frequency import (
    local_frequency,
    local_frequency_gradient,
    random_signs,
    stochastic_frequency,
    stochastic_slopes,
)

WEIGHTS = (0.7, 1.3)


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "widths", "name", "layer_norm"),
    [(1, (12,), "tanh", False), (3, (7, 6, 5), "tanh", False), (3, (7, 6), "silu", True)],
)
def test_derivatives_agree_with_finite_differences_in_float64(n, widths, name, layer_norm):
    with jax.enable_x64(True):
        network = random_network(n, n, widths)
        network = replace(network, activation=ACTIVATIONS[name], layer_norm=layer_norm)
        network = jax.tree.map(lambda leaf: np.float64(leaf), network)
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


def bent_value(n):
    """The value of a tanh network with weights large enough to bend, and a state."""
    network = init_xavier(jax.random.key(n), (n, 12, 9, 1))
    network = jax.tree.map(lambda leaf: jnp.asarray(2 * np.asarray(leaf), float), network)
    return StateValue(network), jnp.asarray(np.random.default_rng(n).normal(size=n))


def exact(function, x):
    """g, ∇g and ∇f by way of the Hessian."""

    @jax.jit
    def at(x):
        slope = local_frequency_gradient(function, x, *WEIGHTS)
        return local_frequency(function, x, *WEIGHTS), slope, jax.grad(function)(x)

    return at(x)


def estimated(function, x, probes):
    """g, ∇g and ∇f from probes."""

    @jax.jit
    def at(x, probes):
        g, _ = stochastic_frequency(function, x, *WEIGHTS, probes)
        return g, *stochastic_slopes(function, x, *WEIGHTS, probes)

    return at(x, probes)


@pytest.mark.slow
def test_probes_whose_mean_square_is_the_identity_give_g_and_its_gradient_exactly():
    with jax.enable_x64(True):
        value, x = bent_value(3)
        g, slope, gradient = exact(value, x)
        all_signs = jnp.array(list(itertools.product([-1.0, 1.0], repeat=3)))
        found, found_slope, found_gradient = estimated(value, x, all_signs)
        # Rounding in float64, relative to the largest number of each.
        np.testing.assert_allclose(found, g, rtol=1e-12)
        for ours, expected in ((found_slope, slope), (found_gradient, gradient)):
            atol = 1e-12 * float(jnp.abs(expected).max())
            np.testing.assert_allclose(ours, expected, rtol=0, atol=atol)


@pytest.mark.slow
def test_each_coordinate_of_the_estimate_is_unbiased_for_11():
    with jax.enable_x64(True):
        value, x = bent_value(11)
        g, slope, gradient = exact(value, x)
        keys = jax.random.split(jax.random.key(0), 20_000)

        def estimate(key):
            found, found_slope, found_gradient = estimated(value, x, random_signs(key, 1, 11))
            return jnp.append(found_slope, found), found_gradient

        estimates, gradients = jax.jit(jax.vmap(estimate))(keys)
        errors = estimates.mean(0) - jnp.append(slope, g)
        # Five standard errors of 12 numbers: a false alarm for one of 145,000 seeds.
        assert (jnp.abs(errors) < 5 * estimates.std(0) / np.sqrt(20_000)).all()
        # The test has power: five standard errors are less than a tenth of what is estimated.
        assert 5 * estimates.std(0).max() / np.sqrt(20_000) < 0.1 * jnp.abs(slope).max()
        np.testing.assert_allclose(gradients, jnp.broadcast_to(gradient, gradients.shape))


def test_random_signs_are_independent_signs():
    signs = np.asarray(random_signs(jax.random.key(0), 10_000, 5))
    assert signs.dtype == np.float32
    np.testing.assert_array_equal(np.abs(signs), 1)
    # Five standard errors of 15 numbers: a false alarm for one of 116,000 seeds.
    np.testing.assert_allclose(signs.mean(0), 0, atol=5 / 100)
    np.testing.assert_allclose(signs.T @ signs / 10_000, np.eye(5), atol=5 / 100)
