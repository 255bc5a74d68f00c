import numpy as np
import pytest

from reproduction.theory_old.bandwidth import local_spectrum, taper, window_means, without_trend

STEP = 1 / 64


def wave(first, second):
    x = np.arange(64) * STEP
    return np.sin(2 * np.pi * (first * x[:, None] + second * x))


def test_a_plane_wave_has_its_own_bandwidth():
    for first, second in ((16, 0), (0, 16), (12, 16)):
        found = local_spectrum(wave(first, second), (STEP, STEP), 16, 8).bandwidth
        # The taper of a quarter unit spreads each wave by some four cycles a unit.
        np.testing.assert_allclose(found, np.hypot(first, second), rtol=0.06)


def test_the_units_are_those_of_the_coordinates():
    surface = wave(12, 0)
    once = local_spectrum(surface, (STEP, STEP), 16, 8).bandwidth
    stretched = local_spectrum(surface, (10 * STEP, 10 * STEP), 16, 8).bandwidth
    np.testing.assert_allclose(once, 10 * stretched, rtol=1e-9)


def test_the_faster_half_is_ranked_above():
    surface = np.where(np.arange(64)[:, None] < 32, wave(20, 0), wave(8, 0))
    found = local_spectrum(surface, (STEP, STEP), 16, 16)
    assert found.bandwidth[:2].min() > 1.5 * found.bandwidth[2:].max()


def test_a_plane_has_no_energy_and_lends_none():
    x = np.arange(64) * STEP
    plane = 7 + 30 * x[:, None] - 20 * x
    assert local_spectrum(plane, (STEP, STEP), 16, 8).energy.max() < 1e-20
    assert local_spectrum(np.full((64, 64), 7.0), (STEP, STEP), 16, 8, "mean").energy.max() < 1e-20
    alone, tilted = (
        local_spectrum(surface, (STEP, STEP), 16, 8)
        for surface in (wave(12, 4), wave(12, 4) + plane)
    )
    np.testing.assert_allclose(tilted.bandwidth, alone.bandwidth, rtol=1e-9)
    slope = local_spectrum(wave(12, 4) + 100 * plane, (STEP, STEP), 16, 8, "mean")
    assert slope.bandwidth.max() < 0.5 * alone.bandwidth.min()


def test_the_best_fit_plane_is_that_of_least_squares():
    surface = np.random.default_rng(0).normal(size=(12, 12))
    weights = np.sqrt(taper(12)).ravel()
    i, j = np.indices((12, 12)).reshape(2, -1)
    basis = np.stack([np.ones(144), i, j], axis=1)
    fitted = basis @ np.linalg.lstsq(basis * weights[:, None], surface.ravel() * weights)[0]
    left = without_trend(surface[None, None], "plane")[0, 0]
    np.testing.assert_allclose(left, surface - fitted.reshape(12, 12), atol=1e-12)


def test_parseval_and_means():
    surface = np.random.default_rng(0).normal(size=(64, 64))
    piece, window = surface[:16, :16], taper(16)
    tapered = (piece - (piece * window).sum() / window.sum()) * window
    found = local_spectrum(surface, (STEP, STEP), 16, 8, "mean")
    assert found.energy[0, 0] == pytest.approx(16 * 16 * (tapered**2).sum(), rel=1e-9)
    expected = (piece * window**2).sum() / (window**2).sum()
    assert window_means(surface, 16, 8)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert found.energy.shape == window_means(surface, 16, 8).shape == (7, 7)
