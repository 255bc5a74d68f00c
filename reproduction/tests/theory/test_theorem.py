import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j1

from freqdyna.core.errors import FreqdynaError
from reproduction.theory_old import (
    local_energy,
    local_fourier_transform,
    local_frequency_distribution,
    local_gradient_energy,
    local_hessian_energy,
    radial_spectrum,
    theorem_identities,
)

LINE, PLANE = np.zeros(1), np.zeros(2)


def one(y):
    return jnp.ones_like(y[0])


def left(y):
    return 1 - jnp.sum(y**2)


def test_energies_of_a_polynomial_are_its_closed_forms():
    # f = 1 − r²: f² integrates to 16/15 and π/3; ∇f = −2y; H = −2 I.
    for x, energy, gradient, hessian in (
        (LINE, 16 / 15, 8 / 3, 8.0),
        (PLANE, np.pi / 3, 2 * np.pi, 8 * np.pi),
    ):
        assert local_energy(left, x) == pytest.approx(energy, rel=1e-12)
        assert local_gradient_energy(left, x) == pytest.approx(gradient, rel=1e-12)
        assert local_hessian_energy(left, x) == pytest.approx(hessian, rel=1e-12)


def test_energies_move_with_the_ball():
    centre = np.array([0.4, -0.3])
    assert local_energy(lambda y: left(y - centre), centre) == pytest.approx(np.pi / 3, rel=1e-12)


def test_the_transform_of_the_ball_itself():
    k = np.array([0.3, 1.0, 7.7, 40.2])
    line = local_fourier_transform(one, LINE, k[:, None])
    np.testing.assert_allclose(line, np.sin(2 * np.pi * k) / (np.pi * k), atol=1e-12)
    plane = local_fourier_transform(one, PLANE, np.stack([0.6 * k, 0.8 * k], axis=1))
    np.testing.assert_allclose(plane, j1(2 * np.pi * k) / k, atol=1e-11)


def test_the_transform_of_a_gaussian_that_hardly_reaches_the_boundary():
    width = 0.1
    k = np.array([0.0, 0.5, 1.5, 3.0])
    found = local_fourier_transform(
        lambda y: jnp.exp(-(y[0] ** 2) / (2 * width**2)), LINE, k[:, None]
    )
    exact = width * np.sqrt(2 * np.pi) * np.exp(-2 * (np.pi * k * width) ** 2)
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_the_centre_turns_the_phase_only():
    k, centre = np.array([[1.3, -0.4]]), np.array([0.7, 0.2])
    here = local_fourier_transform(left, PLANE, k)
    there = local_fourier_transform(lambda y: left(y - centre), centre, k)
    np.testing.assert_allclose(there, here * np.exp(-2j * np.pi * (k @ centre)), atol=1e-12)


def test_the_radial_spectrum_is_the_transform_around_the_circle():
    def f(y):
        return jnp.exp(y[0]) * jnp.cos(5 * y[1] + 0.3)

    angles = 2 * np.pi * np.arange(64) / 64
    for length in (0.7, 2.3):
        k = length * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        direct = 2 * np.pi * length * np.mean(np.abs(local_fourier_transform(f, PLANE, k)) ** 2)
        assert radial_spectrum(f, PLANE, np.array([length]))[0] == pytest.approx(direct, rel=1e-10)


def test_the_local_frequency_distribution_is_one():
    # Samples half a unit apart give the whole integral: f̂ is band-limited to the ball.
    k = np.arange(-60, 60.25, 0.25)[:, None]
    distribution = local_frequency_distribution(lambda y: left(y) ** 2, LINE, k)
    assert distribution.min() >= 0
    assert distribution.sum() * 0.25 == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("x", [LINE, PLANE])
def test_both_identities_where_f_and_its_gradient_vanish_on_the_boundary(x):
    found = theorem_identities(lambda y: left(y) ** 4 * (1 + y[0]), x, (8, 16))
    assert found.captured[-1] == pytest.approx(1.0, abs=1e-9)
    assert found.first_order[-1] == pytest.approx(1.0, abs=1e-6)
    assert found.second_order[-1] == pytest.approx(1.0, abs=1e-5)
    errors = np.abs(found.second_order - 1)
    assert errors[1] < errors[0] / 10


def test_a_kink_breaks_the_second_identity_only():
    found = theorem_identities(left, LINE, (8, 16, 32))
    # Closed form: f̂ = O(k⁻²), so the missing part of the second moment is as 1/K.
    np.testing.assert_allclose(1 - found.first_order, 0.152 / np.array([8, 16, 32]), rtol=0.01)
    np.testing.assert_allclose(found.second_order, [16, 32, 64], rtol=1e-6)


def test_a_jump_breaks_both():
    found = theorem_identities(lambda y: jnp.cos(2 * jnp.pi * y[0]), PLANE, (4, 8, 16))
    first, second = np.diff(found.first_order), np.diff(found.second_order)
    assert np.log2(first[1] / first[0]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(second[1] / second[0]) == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("cutoffs", [(), (0,), (-4, 8), (8, 4), (4, 4), (4, 16, 8)])
def test_cut_offs_that_do_not_grow_are_refused(cutoffs):
    with pytest.raises(FreqdynaError) as refused:
        theorem_identities(left, LINE, cutoffs)
    assert str(refused.value) == (
        f"cutoffs is {cutoffs}; it must be one or more integers, 1 or greater, each greater "
        "than the one before"
    )


def test_one_cut_off_is_enough():
    assert theorem_identities(left, LINE, (1,)).captured.shape == (1,)


@pytest.mark.parametrize("waves", [1, 9, 16])
def test_sixteen_waves_a_unit_are_integrated_to_rounding(waves):
    """∫ cos²(2πky₁) is 1 on the line, π/2 + J₁(4πk) / 4k on the disc; slopes follow from it."""

    def wave(y):
        return jnp.cos(2 * jnp.pi * waves * y[0])

    ripple = j1(4 * np.pi * waves) / (4 * waves)
    squared = (2 * np.pi * waves) ** 2
    assert local_energy(wave, LINE) == pytest.approx(1, rel=1e-12)
    assert local_gradient_energy(wave, LINE) == pytest.approx(squared, rel=1e-12)
    assert local_energy(wave, PLANE) == pytest.approx(np.pi / 2 + ripple, rel=1e-12)
    slope = squared * (np.pi / 2 - ripple)
    assert local_gradient_energy(wave, PLANE) == pytest.approx(slope, rel=1e-12)
    assert local_hessian_energy(wave, PLANE) == pytest.approx(
        squared**2 * (np.pi / 2 + ripple), rel=1e-12
    )
    lengths = waves + np.array([0.3, 2.1])
    turns = 2 * np.pi * np.arange(2000) / 2000
    first, second = lengths[:, None] * np.cos(turns), lengths[:, None] * np.sin(turns)
    transform = sum(_of_the_disc(np.hypot(first + k, second)) for k in (-waves, waves)) / 2
    around = 2 * np.pi * lengths * np.mean(transform**2, axis=1)
    np.testing.assert_allclose(radial_spectrum(wave, PLANE, lengths), around, rtol=1e-8)


def _of_the_disc(length):
    return j1(2 * np.pi * length) / length
