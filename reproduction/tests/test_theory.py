"""Closed forms, quadrature and the theorem on functions whose transforms are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import j1

from freqdyna.core.errors import FreqdynaError
from reproduction.theory import (
    FourierSeries,
    _taper,
    _without_trend,
    ball,
    gauss,
    interval_energy,
    local_dispersion,
    local_energy,
    local_fourier_transform,
    local_frequency_distribution,
    local_gradient_energy,
    local_hessian_energy,
    local_spectrum,
    radial_spectrum,
    theorem_identities,
    uncertainty_ratio,
    window_means,
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
    with pytest.raises(FreqdynaError, match="cutoffs"):
        theorem_identities(left, LINE, cutoffs)


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


STEP = 1 / 64


def plane_wave(first, second):
    x = np.arange(64) * STEP
    return np.sin(2 * np.pi * (first * x[:, None] + second * x))


def test_a_plane_wave_has_its_own_bandwidth():
    for first, second in ((16, 0), (0, 16), (12, 16)):
        found = local_spectrum(plane_wave(first, second), (STEP, STEP), 16, 8).bandwidth
        # The taper of a quarter unit spreads each wave by some four cycles a unit.
        np.testing.assert_allclose(found, np.hypot(first, second), rtol=0.06)


def test_the_units_are_those_of_the_coordinates():
    surface = plane_wave(12, 0)
    once = local_spectrum(surface, (STEP, STEP), 16, 8).bandwidth
    stretched = local_spectrum(surface, (10 * STEP, 10 * STEP), 16, 8).bandwidth
    np.testing.assert_allclose(once, 10 * stretched, rtol=1e-9)


def test_the_faster_half_is_ranked_above():
    surface = np.where(np.arange(64)[:, None] < 32, plane_wave(20, 0), plane_wave(8, 0))
    found = local_spectrum(surface, (STEP, STEP), 16, 16)
    assert found.bandwidth[:2].min() > 1.5 * found.bandwidth[2:].max()


def test_a_plane_has_no_energy_and_lends_none():
    x = np.arange(64) * STEP
    plane = 7 + 30 * x[:, None] - 20 * x
    assert local_spectrum(plane, (STEP, STEP), 16, 8).energy.max() < 1e-20
    assert local_spectrum(np.full((64, 64), 7.0), (STEP, STEP), 16, 8, "mean").energy.max() < 1e-20
    alone, tilted = (
        local_spectrum(surface, (STEP, STEP), 16, 8)
        for surface in (plane_wave(12, 4), plane_wave(12, 4) + plane)
    )
    np.testing.assert_allclose(tilted.bandwidth, alone.bandwidth, rtol=1e-9)
    slope = local_spectrum(plane_wave(12, 4) + 100 * plane, (STEP, STEP), 16, 8, "mean")
    assert slope.bandwidth.max() < 0.5 * alone.bandwidth.min()


def test_the_best_fit_plane_is_that_of_least_squares():
    surface = np.random.default_rng(0).normal(size=(12, 12))
    weights = np.sqrt(_taper(12)).ravel()
    i, j = np.indices((12, 12)).reshape(2, -1)
    basis = np.stack([np.ones(144), i, j], axis=1)
    fitted = basis @ np.linalg.lstsq(basis * weights[:, None], surface.ravel() * weights)[0]
    left = _without_trend(surface[None, None], "plane")[0, 0]
    np.testing.assert_allclose(left, surface - fitted.reshape(12, 12), atol=1e-12)


def test_parseval_and_means():
    surface = np.random.default_rng(0).normal(size=(64, 64))
    piece, window = surface[:16, :16], _taper(16)
    tapered = (piece - (piece * window).sum() / window.sum()) * window
    found = local_spectrum(surface, (STEP, STEP), 16, 8, "mean")
    assert found.energy[0, 0] == pytest.approx(16 * 16 * (tapered**2).sum(), rel=1e-9)
    expected = (piece * window**2).sum() / (window**2).sum()
    assert window_means(surface, 16, 8)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert found.energy.shape == window_means(surface, 16, 8).shape == (7, 7)
