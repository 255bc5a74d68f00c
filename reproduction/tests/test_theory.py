"""Closed forms, quadrature and the theorem on functions whose transforms are known."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j1

from reproduction import theory

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
        assert theory.local_energy(left, x) == pytest.approx(energy, rel=1e-12)
        assert theory.local_gradient_energy(left, x) == pytest.approx(gradient, rel=1e-12)
        assert theory.local_hessian_energy(left, x) == pytest.approx(hessian, rel=1e-12)


def test_the_transform_of_the_ball_itself():
    k = np.array([0.3, 1.0, 7.7, 40.2])
    line = theory.local_fourier_transform(one, LINE, k[:, None])
    np.testing.assert_allclose(line, np.sin(2 * np.pi * k) / (np.pi * k), atol=1e-12)
    plane = theory.local_fourier_transform(one, PLANE, np.stack([0.6 * k, 0.8 * k], axis=1))
    np.testing.assert_allclose(plane, j1(2 * np.pi * k) / k, atol=1e-11)


@pytest.mark.parametrize("x", [LINE, PLANE])
def test_both_identities_where_f_and_its_gradient_vanish_on_the_boundary(x):
    found = theory.theorem_identities(lambda y: left(y) ** 4 * (1 + y[0]), x, (8, 16))
    assert found.captured[-1] == pytest.approx(1.0, abs=1e-9)
    assert found.first_order[-1] == pytest.approx(1.0, abs=1e-6)
    assert found.second_order[-1] == pytest.approx(1.0, abs=1e-5)
    errors = np.abs(found.second_order - 1)
    assert errors[1] < errors[0] / 10


@pytest.mark.slow
def test_a_jump_breaks_both():
    found = theory.theorem_identities(lambda y: jnp.cos(2 * jnp.pi * y[0]), PLANE, (4, 8, 16))
    first, second = np.diff(found.first_order), np.diff(found.second_order)
    assert np.log2(first[1] / first[0]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(second[1] / second[0]) == pytest.approx(3.0, abs=0.1)


def test_sixteen_waves_a_unit_are_integrated_to_rounding():
    """∫ cos²(2πky₁) is 1 on the line, π/2 + J₁(4πk) / 4k on the disc; slopes follow from it."""
    waves = 16

    def wave(y):
        return jnp.cos(2 * jnp.pi * waves * y[0])

    ripple = j1(4 * np.pi * waves) / (4 * waves)
    squared = (2 * np.pi * waves) ** 2
    assert theory.local_energy(wave, LINE) == pytest.approx(1, rel=1e-12)
    assert theory.local_gradient_energy(wave, LINE) == pytest.approx(squared, rel=1e-12)
    assert theory.local_energy(wave, PLANE) == pytest.approx(np.pi / 2 + ripple, rel=1e-12)
    slope = squared * (np.pi / 2 - ripple)
    assert theory.local_gradient_energy(wave, PLANE) == pytest.approx(slope, rel=1e-12)
    assert theory.local_hessian_energy(wave, PLANE) == pytest.approx(
        squared**2 * (np.pi / 2 + ripple), rel=1e-12
    )
    lengths = waves + np.array([0.3, 2.1])
    turns = 2 * np.pi * np.arange(2000) / 2000
    first, second = lengths[:, None] * np.cos(turns), lengths[:, None] * np.sin(turns)
    shifted = [np.hypot(first + k, second) for k in (-waves, waves)]
    transform = sum(j1(2 * np.pi * length) / length for length in shifted) / 2
    around = 2 * np.pi * lengths * np.mean(transform**2, axis=1)
    np.testing.assert_allclose(theory.radial_spectrum(wave, PLANE, lengths), around, rtol=1e-8)


def test_the_uncertainty_ratio_is_its_closed_form():
    narrow = theory.uncertainty_ratio(lambda y: jnp.exp(-25 * jnp.sum(y**2)), PLANE)
    assert narrow == pytest.approx(1.0, abs=1e-9)
    # ∫y²f² = 16/105, ∫f′² = 8/3, ∫f² = 16/15 for 1 − y²; it does not depend on the energy.
    expected = 16 / 105 * 8 / 3 / (0.25 * (16 / 15) ** 2)
    ratio = theory.uncertainty_ratio(lambda y: 3 * left(y), LINE)
    assert ratio == pytest.approx(expected, rel=1e-12)
    assert theory.uncertainty_ratio(one, LINE) == 0.0  # it does not vanish on the boundary


STEP = 1 / 64


def plane_wave(first, second):
    x = np.arange(64) * STEP
    return np.sin(2 * np.pi * (first * x[:, None] + second * x))


def test_a_plane_wave_has_its_own_bandwidth():
    for first, second in ((16, 0), (0, 16), (12, 16)):
        found = theory.local_spectrum(plane_wave(first, second), (STEP, STEP), 16, 8).bandwidth
        # The taper of a quarter unit spreads each wave by some four cycles a unit.
        np.testing.assert_allclose(found, np.hypot(first, second), rtol=0.06)


def test_a_plane_has_no_energy_and_lends_none():
    x = np.arange(64) * STEP
    plane = 7 + 30 * x[:, None] - 20 * x
    assert theory.local_spectrum(plane, (STEP, STEP), 16, 8).energy.max() < 1e-20
    alone, tilted = (
        theory.local_spectrum(surface, (STEP, STEP), 16, 8)
        for surface in (plane_wave(12, 4), plane_wave(12, 4) + plane)
    )
    np.testing.assert_allclose(tilted.bandwidth, alone.bandwidth, rtol=1e-9)


def test_parseval_and_means():
    surface = np.random.default_rng(0).normal(size=(64, 64))
    line = np.sin(np.pi * (np.arange(16) + 0.5) / 16) ** 2
    piece, window = surface[:16, :16], np.outer(line, line)
    tapered = (piece - (piece * window).sum() / window.sum()) * window
    spectrum = theory.local_spectrum(surface, (STEP, STEP), 16, 8, "mean")
    assert spectrum.energy[0, 0] == pytest.approx(16 * 16 * (tapered**2).sum(), rel=1e-9)
    expected = (piece * window**2).sum() / (window**2).sum()
    assert theory.window_means(surface, 16, 8)[0, 0] == pytest.approx(expected, rel=1e-9)
