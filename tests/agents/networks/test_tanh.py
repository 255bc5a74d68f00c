import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.agents.networks import tanh


def test_is_as_near_to_tanh_as_float32_allows():
    x = np.concatenate([np.linspace(-15, 15, 400_001), np.geomspace(1e-30, 1, 10_001)])
    x = x.astype(np.float32)
    ours, exact = np.asarray(tanh(jnp.asarray(x))), np.tanh(x.astype(np.float64))
    np.testing.assert_allclose(ours, exact, rtol=5e-7)  # four units in the last place
    assert np.abs(ours).max() <= 1  # or the slope 1 − tanh² would be negative
    np.testing.assert_allclose(tanh(jnp.array([9.0, 50.0, 1e30, np.inf])), 1, rtol=2e-7)
    assert np.isnan(tanh(jnp.array(np.nan)))
    assert tanh(jnp.zeros(())) == 0


def test_derivatives_of_every_order_are_those_of_tanh():
    x = jnp.linspace(-6, 6, 41)
    ours, exact = tanh, jnp.tanh
    for _ in range(3):
        ours, exact = jax.grad(ours), jax.grad(exact)
        np.testing.assert_allclose(jax.vmap(ours)(x), jax.vmap(exact)(x), atol=5e-6)


def test_in_float64_it_is_tanh_itself():
    with jax.enable_x64(True):
        x = jnp.linspace(-10, 10, 101)
        np.testing.assert_array_equal(tanh(x), jnp.tanh(x))
