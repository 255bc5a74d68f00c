import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.core.errors import FreqdynaError
from reproduction.theory_old import interval_energy
from reproduction.theory_old.quadrature import ball, gauss


def test_polynomials_of_degree_31_are_exact():
    nodes, weights = gauss(-1.0, 3.0, 2)
    for degree in (0, 1, 7, 31):
        exact = (3.0 ** (degree + 1) - (-1.0) ** (degree + 1)) / (degree + 1)
        assert weights @ nodes**degree == pytest.approx(exact, rel=1e-12)


def test_the_ball_has_its_volume_and_its_moments():
    line, weights = ball(1)
    assert weights.sum() == pytest.approx(2.0, rel=1e-13)
    assert weights @ line[:, 0] ** 2 == pytest.approx(2 / 3, rel=1e-13)
    disc, weights = ball(2)
    assert weights.sum() == pytest.approx(np.pi, rel=1e-13)
    assert weights @ disc[:, 0] ** 2 == pytest.approx(np.pi / 4, rel=1e-13)
    assert weights @ (disc[:, 0] * disc[:, 1]) == pytest.approx(0.0, abs=1e-13)


def test_three_dimensions_are_refused():
    with pytest.raises(FreqdynaError, match="3 coordinates"):
        ball(3)


def test_derivatives_of_a_wave_over_whole_periods():
    def wave(y):
        return jnp.sin(3 * y[0])

    for derivative in range(4):
        exact = np.pi * 9.0**derivative
        assert interval_energy(wave, 0.0, 2 * np.pi, derivative) == pytest.approx(exact, rel=1e-12)
