import jax.numpy as jnp
import numpy as np
import pytest

from reproduction.theory_old import local_dispersion, uncertainty_ratio


def gaussian(width):
    return lambda y: jnp.exp(-jnp.sum(y**2) / (4 * width**2))


@pytest.mark.parametrize("n", [1, 2])
def test_a_narrow_gaussian_meets_the_bound(n):
    assert uncertainty_ratio(gaussian(0.1), np.zeros(n)) == pytest.approx(1.0, abs=1e-9)


def test_the_ratio_does_not_depend_on_the_energy():
    once, thrice = (
        uncertainty_ratio(lambda y, s=s: s * (1 - y[0] ** 2), np.zeros(1)) for s in (1, 3)
    )
    assert once == pytest.approx(thrice, rel=1e-12)
    # ∫y²f² = 16/105, ∫f′² = 8/3, ∫f² = 16/15.
    assert once == pytest.approx(16 / 105 * 8 / 3 / (0.25 * (16 / 15) ** 2), rel=1e-12)


def test_a_function_that_does_not_vanish_on_the_boundary_falls_below():
    assert uncertainty_ratio(lambda y: jnp.ones_like(y[0]), np.zeros(1)) == 0.0
    assert uncertainty_ratio(gaussian(1.0), np.zeros(1)) < 0.5


def test_dispersion_is_around_the_centre():
    centre = np.array([0.5])
    assert local_dispersion(lambda y: jnp.ones_like(y[0]), centre) == pytest.approx(2 / 3)
