import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.theory_old import FourierSeries, interval_energy


@settings(max_examples=5, deadline=None)
@given(order=st.integers(1, 12), seed=st.integers(0, 2**31 - 1))
def test_example_2_for_any_coefficients(order, seed):
    coefficients = np.random.default_rng(seed).normal(size=(2, 12))
    coefficients[:, order:] = 0.0  # of one length, so that nothing is compiled again
    with jax.enable_x64(True):
        f = FourierSeries(jnp.asarray(1.0), *map(jnp.asarray, coefficients))
        for derivative in (1, 2):
            stated = float(f.derivative_energy(derivative))
            found = interval_energy(f, -np.pi, np.pi, derivative)
            assert found == pytest.approx(stated, rel=1e-10)


def test_a_single_wave():
    f = FourierSeries(jnp.array(2.0), jnp.array([0.0, 3.0]), jnp.array([0.0, 4.0]))
    assert float(f(jnp.array([0.0]))) == pytest.approx(1.0 + 3.0)
    assert float(f.derivative_energy(1)) == pytest.approx(np.pi * 4 * 25)
    assert float(f.derivative_energy(2)) == pytest.approx(np.pi * 16 * 25)
