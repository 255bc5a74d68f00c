"""Closed forms, quadrature and the theorem on functions whose transforms are known."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j1

from freqdyna.core.errors import FreqdynaError
from reproduction.theory import (
    _taper,
    _without_trend,
    ball,
    fourier_series,
    interval_energy,
    local_energy,
    local_fourier_transform,
    local_gradient_energy,
    local_hessian_energy,
    local_spectrum,
    radial_spectrum,
    series_energy,
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


def test_the_transform_of_the_ball_itself():
    k = np.array([0.3, 1.0, 7.7, 40.2])
    line = local_fourier_transform(one, LINE, k[:, None])
    np.testing.assert_allclose(line, np.sin(2 * np.pi * k) / (np.pi * k), atol=1e-12)
    plane = local_fourier_transform(one, PLANE, np.stack([0.6 * k, 0.8 * k], axis=1))
    np.testing.assert_allclose(plane, j1(2 * np.pi * k) / k, atol=1e-11)


def test_the_centre_turns_the_phase_only():
    k, centre = np.array([[1.3, -0.4]]), np.array([0.7, 0.2])
    here = local_fourier_transform(left, PLANE, k)
    there = local_fourier_transform(lambda y: left(y - centre), centre, k)
    np.testing.assert_allclose(there, here * np.exp(-2j * np.pi * (k @ centre)), atol=1e-12)


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


def test_cutoffs_that_do_not_grow_and_three_dimensions_are_refused():
    for cutoffs in ((), (0,), (8, 4), (4, 4)):
        with pytest.raises(FreqdynaError, match="cutoffs"):
            theorem_identities(left, LINE, cutoffs)
    with pytest.raises(FreqdynaError, match="3 coordinates"):
        ball(3)


@pytest.mark.parametrize("waves", [1, 16])
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


def test_the_ball_has_its_volume_and_its_moments():
    line, weights = ball(1)
    assert weights.sum() == pytest.approx(2.0, rel=1e-13)
    assert weights @ line[:, 0] ** 2 == pytest.approx(2 / 3, rel=1e-13)
    disc, weights = ball(2)
    assert weights.sum() == pytest.approx(np.pi, rel=1e-13)
    assert weights @ disc[:, 0] ** 2 == pytest.approx(np.pi / 4, rel=1e-13)
    assert weights @ (disc[:, 0] * disc[:, 1]) == pytest.approx(0.0, abs=1e-13)


def test_example_2_is_the_energy_of_the_derivatives():
    coefficients = np.random.default_rng(0).normal(size=(2, 12))
    for derivative in (1, 2):
        expected = np.pi * np.sum(np.arange(1, 13) ** (2 * derivative) * coefficients**2)
        assert series_energy(derivative, *coefficients) == pytest.approx(expected, rel=1e-12)
        series = partial(fourier_series, 1.0, *coefficients)
        energy = interval_energy(series, -np.pi, np.pi, derivative)
        assert energy == pytest.approx(expected, rel=1e-10)


def test_derivatives_of_a_wave_over_whole_periods():
    def wave(y):
        return jnp.sin(3 * y[0])

    for derivative in range(3):
        exact = np.pi * 9.0**derivative
        assert interval_energy(wave, 0.0, 2 * np.pi, derivative) == pytest.approx(exact, rel=1e-12)


def gaussian(width):
    return lambda y: jnp.exp(-jnp.sum(y**2) / (4 * width**2))


def test_a_narrow_gaussian_meets_the_bound():
    assert uncertainty_ratio(gaussian(0.1), PLANE) == pytest.approx(1.0, abs=1e-9)


def test_the_ratio_does_not_depend_on_the_energy():
    # ∫y²f² = 16/105, ∫f′² = 8/3, ∫f² = 16/15 for 1 − y².
    assert uncertainty_ratio(lambda y: 3 * left(y), LINE) == pytest.approx(
        16 / 105 * 8 / 3 / (0.25 * (16 / 15) ** 2), rel=1e-12
    )


def test_a_function_that_does_not_vanish_on_the_boundary_falls_below():
    assert uncertainty_ratio(lambda y: jnp.ones_like(y[0]), np.zeros(1)) == 0.0
    assert uncertainty_ratio(gaussian(1.0), np.zeros(1)) < 0.5


STEP = 1 / 64


def plane_wave(first, second):
    x = np.arange(64) * STEP
    return np.sin(2 * np.pi * (first * x[:, None] + second * x))


def test_a_plane_wave_has_its_own_bandwidth():
    for first, second in ((16, 0), (0, 16), (12, 16)):
        found = local_spectrum(plane_wave(first, second), (STEP, STEP), 16, 8).bandwidth
        # The taper of a quarter unit spreads each wave by some four cycles a unit.
        np.testing.assert_allclose(found, np.hypot(first, second), rtol=0.06)


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
