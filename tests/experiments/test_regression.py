import threading
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from freqdyna.experiments import regression
from freqdyna.experiments.base import Work
from freqdyna.experiments.f2 import sweep as f2
from freqdyna.experiments.f_sin import f_sin

DRAWS = {
    "Unbiased": regression.draw_unbiased,
    "High": partial(regression.draw_biased, high_share=0.7),
}


def work(folder, stop_after=None):
    stop = threading.Event()

    def report(done, total):
        if stop_after is not None and done >= stop_after:
            stop.set()

    return Work(folder, report, stop)


def test_f_sin_is_the_papers():
    x = jnp.array([-1.97, -0.03, 0.0, 0.5, 2.0])
    expected = [np.sin(8 * np.pi * -1.97), np.sin(8 * np.pi * -0.03), 0, 1, 0]
    np.testing.assert_allclose(f_sin(x), expected, atol=1e-5)


def test_a_biased_data_set_has_exactly_its_share():
    x = regression.draw_biased(jax.random.key(0), 0.6)
    assert x.shape == (regression.POINTS,)
    assert int((x < 0).sum()) == 2400
    assert x.min() >= -2
    assert x.max() <= 2
    assert x[:2400].mean() == pytest.approx(-1, abs=0.06)  # 5 standard errors


@pytest.mark.parametrize(
    ("derivative", "high_frequency", "spikes"), [(1, 65.55, 17.81), (2, 69.40, 27.40)]
)
def test_the_densities_give_the_expected_shares(derivative, high_frequency, spikes):
    """The expected shares, independently calculated from 2·10⁶ points: within 0.1 percent."""
    grid, by_norm = regression.grid_density(derivative)
    wave = np.where(grid < 0, 8 * np.pi, np.pi)
    exact = np.abs(wave * np.cos(wave * grid) if derivative == 1 else wave**2 * np.sin(wave * grid))
    np.testing.assert_allclose(by_norm, exact / exact.sum(), atol=1e-12)
    density = f2.UNIFORM_SHARE / len(grid) + (1 - f2.UNIFORM_SHARE) * by_norm
    assert 100 * density[grid <= 0].sum() == pytest.approx(high_frequency, abs=0.1)
    y, deviation = np.abs(np.sin(wave * grid)), regression.NOISE
    inside = [
        norm.cdf((sign * 1.1 - y) / deviation) - norm.cdf((sign * 0.9 - y) / deviation)
        for sign in (1, -1)
    ]
    assert 100 * density @ (inside[0] - inside[1]) == pytest.approx(spikes, abs=0.1)


def test_samples_have_the_expected_shares():
    draw = f2.BY_NORM["Biased-HessianNorm"]
    keys = jax.random.split(jax.random.key(1), 50)
    mean = np.asarray(jax.lax.map(partial(f2.shares, draw), keys)).mean(axis=0)
    np.testing.assert_allclose(mean, [69.40, 27.40], atol=5 * 0.47 / np.sqrt(10))  # 50,000 points


def test_the_first_update_is_adams():
    """Adam's first step is the step size for every parameter whose slope is not tiny."""
    fit, task = regression.prepare(regression.draw_unbiased, jax.random.key(0))
    x, y = regression.batches(task, jnp.int32(0))
    assert x.shape == y.shape == (20, 128)
    step = np.abs(regression.update(fit, x[0], y[0]).params - fit.params)
    assert step.max() == pytest.approx(1e-3, rel=1e-3)
    assert np.quantile(step, 0.1) == pytest.approx(1e-3, rel=0.01)


def test_an_interrupted_unit_ends_as_it_would_have(tmp_path):
    whole = regression.learning_curves(DRAWS, 2, 1500, work(tmp_path))
    assert whole["test_error"].shape == (2 * 2 * 75,)
    with pytest.raises(KeyboardInterrupt):
        regression.learning_curves(DRAWS, 2, 1500, work(tmp_path, stop_after=1000))
    reports = []
    resumed = regression.learning_curves(
        DRAWS, 2, 1500, Work(tmp_path, lambda done, total: reports.append(done), threading.Event())
    )
    assert reports == [1500]
    for name, column in whole.items():
        np.testing.assert_array_equal(resumed[name], column)
    updates, errors = regression.curves_by_setting(whole)
    assert updates[[0, -1]].tolist() == [20, 1500]
    assert errors["High"].shape == (2, 75)
    assert (errors["Unbiased"][:, -1] < errors["Unbiased"][:, 0]).all()  # it learns


def test_seeds_differ_and_settings_of_a_seed_begin_alike():
    starts = [regression.prepare(draw, jax.random.key(0))[0] for draw in DRAWS.values()]
    np.testing.assert_array_equal(starts[0].params, starts[1].params)
    other, _ = regression.prepare(regression.draw_unbiased, jax.random.key(1))
    assert not np.array_equal(starts[0].params, other.params)
