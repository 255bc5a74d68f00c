import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import frequency
from freqdyna.agents.networks import ACTIVATIONS, DERIVATIVES, StateValue, init_xavier


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_in_closed_form_are_those_of_automatic_differentiation(name):
    with jax.enable_x64(True):
        function = ACTIVATIONS[name]
        p = jnp.asarray(np.linspace(-7, 7, 60))  # not at the kink of ReLU
        derived = function
        for ours in DERIVATIVES[function](p, function(p)):
            derived = jax.grad(derived)
            np.testing.assert_allclose(ours, jax.vmap(derived)(p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "n"), [("silu", 2), ("silu", 4), ("relu", 2)])
def test_the_local_frequency_of_a_network_is_exact(name, n):
    with jax.enable_x64(True):
        network = init_xavier(jax.random.key(n), (n, 6, 5, 2), ACTIVATIONS[name])
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
        bends = name == "silu"
        assert bool(np.any(auto.hessian)) == bends  # ReLU: zero almost everywhere
        assert bool(np.any(our_slope)) == bends
