import threading
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.stats import kstest, norm, uniform

from freqdyna.core.errors import DamagedFileError
from freqdyna.training import checkpoint
from reproduction.base import Work
from reproduction.parts.f1 import units as f1
from reproduction.parts.f2 import units as f2
from reproduction.parts.regression import regression, speed
from reproduction.parts.regression.f_sin import f_sin

DRAWS = {
    "Unbiased": regression.draw_unbiased,
    "High": partial(regression.draw_biased, high_share=0.7),
}


@partial(jax.jit, static_argnames="draw")
def prepared(draw, seed):
    return regression.prepare(draw, jax.random.key(seed))


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
    x = np.asarray(jax.jit(partial(regression.draw_biased, high_share=0.6))(jax.random.key(0)))
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
    shares = jax.jit(partial(jax.lax.map, partial(f2.shares, draw)))
    mean = np.asarray(shares(keys)).mean(axis=0)
    np.testing.assert_allclose(mean, [69.40, 27.40], atol=5 * 0.47 / np.sqrt(10))  # 50,000 points


@pytest.mark.parametrize(
    ("name", "high"),
    [
        ("Biased-high 60%", 2400),
        ("Biased-high 70%", 2800),
        ("Biased-high 80%", 3200),
        ("Biased-low 60%", 1600),
        ("Biased-low 70%", 1200),
        ("Biased-low 80%", 800),
    ],
)
def test_each_setting_of_f1_has_the_share_in_its_name(name, high):
    x = np.asarray(jax.jit(f1.DRAWS[name])(jax.random.key(3)))
    assert x.shape == (4000,)
    assert int((x < 0).sum()) == high
    for part, low in ((x[x < 0], -2.0), (x[x >= 0], 0.0)):
        assert kstest(part, uniform(low, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("draw", [*f1.DRAWS.values(), *f2.BY_NORM.values()])
def test_whatever_it_learns_from_a_network_is_tested_on_all_of_the_interval(draw):
    # Not one program for each draw: they share their operations.
    _, tasks = jax.vmap(partial(regression.prepare, draw))(jax.random.split(jax.random.key(4), 10))
    test = np.asarray(tasks.test)
    assert test.shape == (10, 1000)
    assert kstest(test.ravel(), uniform(-2, 4).cdf).pvalue > 1e-3
    noise = np.asarray(tasks.y - f_sin(tasks.x)).ravel()
    assert kstest(noise[:20_000], norm(0, 0.1).cdf).pvalue > 1e-3
    assert np.asarray(tasks.x).shape == (10, 4000)


def by_hand(params, x):
    """The network 1-16-16-1 of tanh units in NumPy, from its flat parameters."""
    w1, w2, w3, b1, b2, b3 = np.split(np.asarray(params, np.float64), [16, 272, 288, 304, 320])
    hidden = np.tanh(np.outer(x, w1) + b1)
    return np.tanh(hidden @ w2.reshape(16, 16) + b2) @ w3 + b3


@pytest.mark.default_compiler
def test_the_test_error_is_that_of_the_network_from_the_noiseless_function():
    fit, task = prepared(regression.draw_unbiased, 0)
    assert fit.params.shape == (321,)
    fit, errors = jax.jit(partial(regression.advance, evaluations=2))(fit, task, jnp.int32(0))
    difference = by_hand(fit.params, np.asarray(task.test)) - np.asarray(f_sin(task.test))
    assert float(errors[1]) == pytest.approx(np.sqrt(np.mean(difference**2)), rel=1e-4)
    assert int(optax.tree.get(fit.optimizer, "count")) == 40


def test_the_settings_are_the_papers():
    (unit,) = f1.units(False)
    (curves, shares, points) = f2.units(False)
    for settings in (unit.settings, curves.settings):
        paper = {
            "batch": 128,
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "layer_sizes": [1, 16, 16, 1],
            "activation": "tanh",
            "output_scale": 0.003,
            "evaluate_every": 20,
            "seeds": 50,
            "noise": 0.1,
            "interval": [-2.0, 2.0],
        }
        ours = {"points": 4000, "updates": 40_000, "test_points": 1000}
        assert {k: v for k, v in settings.items() if k != "data_sets"} == paper | ours
    assert list(unit.settings["data_sets"]) == [
        "Unbiased",
        *(f"Biased-{side} {p}%" for side in ("high", "low") for p in (60, 70, 80)),
    ]
    assert unit.settings["data_sets"]["Biased-low 70%"] == {
        "draw": "draw_biased",
        "high_share": 0.3,
    }
    by_gradient = {"derivative": 1, "uniform_share": 0.6, "grid_points": 10_000}
    for settings in (
        curves.settings["data_sets"],
        shares.settings["data"],
        points.settings["data"],
    ):
        assert settings["Biased-GradientNorm"] == {"draw": "draw_by_norm"} | by_gradient
    assert regression.grid_density(1)[0].shape == (10_000,)
    assert shares.settings["noise"] == points.settings["noise"] == 0.1


def test_the_first_update_is_adams():
    """Adam's first step is the step size for every parameter whose slope is not tiny."""
    fit, task = prepared(regression.draw_unbiased, 0)
    x, y = jax.jit(regression.batches)(task, jnp.int32(0))
    assert x.shape == y.shape == (20, 128)
    first = jax.jit(lambda fit, x, y: regression.update(fit, x[0], y[0]))(fit, x, y)
    step = np.abs(np.asarray(first.params) - np.asarray(fit.params))
    assert step.max() == pytest.approx(1e-3, rel=1e-3)
    assert np.quantile(step, 0.1) == pytest.approx(1e-3, rel=0.01)


def test_a_checkpoint_that_contradicts_itself_is_damaged(tmp_path):
    path, fit = tmp_path / "checkpoint.npz", {"params": np.ones(3, np.float32)}
    errors = np.zeros((4, 25), np.float16)
    checkpoint.save(path, fit, {"error": errors}, {"evaluations": 25})
    assert regression._resumed(path, fit, 4)[2] == 25
    for curves, done in (
        ({"error": errors}, 24),
        ({"error": errors}, "25"),
        ({"error": errors}, None),
        ({"error": errors[1:]}, 25),
        ({"error": errors.astype(np.float32)}, 25),
        ({}, 25),
    ):
        checkpoint.save(path, fit, curves, {"evaluations": done})
        with pytest.raises(DamagedFileError, match="its test errors have another shape"):
            regression._resumed(path, fit, 4)


def test_an_interrupted_unit_ends_as_it_would_have(tmp_path):
    whole_folder, folder = tmp_path / "whole", tmp_path / "parts"
    for made in (whole_folder, folder):
        made.mkdir()
    whole = regression.learning_curves(DRAWS, 2, 1500, work(whole_folder))
    assert whole["test_error"].shape == (2 * 2 * 75,)
    with pytest.raises(KeyboardInterrupt):
        regression.learning_curves(DRAWS, 2, 1500, work(folder, stop_after=1000))
    reports = []
    resumed = regression.learning_curves(
        DRAWS, 2, 1500, Work(folder, lambda done, total: reports.append(done), threading.Event())
    )
    assert reports == [1500]
    for name, column in whole.items():
        np.testing.assert_array_equal(resumed[name], column)
    updates, errors = regression.curves_by_setting(whole)
    assert updates[[0, -1]].tolist() == [20, 1500]
    assert errors["High"].shape == (2, 75)
    assert (errors["Unbiased"][:, -1] < errors["Unbiased"][:, 0]).all()  # it learns
    for seed, curve in enumerate(errors["High"]):  # each seed's own
        begun = prepared(DRAWS["High"], seed)
        _, alone = jax.jit(partial(regression.advance, evaluations=2))(*begun, jnp.int32(0))
        np.testing.assert_allclose(curve[:2], alone, rtol=2e-3)
    assert not np.allclose(errors["High"][0], errors["High"][1], rtol=2e-3)


def test_each_evaluation_follows_batches_of_its_own():
    fit, task = prepared(regression.draw_unbiased, 0)
    batches = jax.jit(regression.batches)
    drawn = [np.asarray(batches(task, jnp.int32(number))[0]) for number in (0, 1, 2)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (drawn[one] == drawn[other]).mean() < 0.01
    assert (drawn[0][0] == drawn[0][1]).mean() < 0.05  # nor do updates share theirs
    train = jax.jit(partial(regression.advance, evaluations=1))
    once, twice = (train(fit, task, jnp.int32(first))[0].params for first in (0, 1))
    assert not np.allclose(once, twice, atol=1e-5)


def test_speed_is_the_first_evaluation_below_the_threshold():
    updates = np.array([20, 40, 60])
    fast = np.array([[0.6, 0.44, 0.5], [0.6, 0.5, 0.4]])
    slow = np.array([[0.6, 0.5, 0.5], [0.6, 0.5, 0.44]])
    assert speed.updates_to(updates, fast, 0.45).tolist() == [40, 60]
    assert speed.updates_to(updates, slow, 0.45).tolist() == [np.inf, 60]
    assert speed.updates_to(updates, fast, 0.42).tolist() == [np.inf, 60]
    assert speed.within_run(updates, slow, 0.45).tolist() == [60, 60]
    (row,) = speed.speed_table(updates, {"slow": slow})[1:]
    assert [cell.split("], ")[1] for cell in row[1:4]] == ["1 of 2", "1 of 2", "2 of 2"]
    assert f_sin_plateau() == pytest.approx(speed.PLATEAU, abs=1e-3)


def f_sin_plateau():
    """The error of a network that is right from zero on, and zero below."""
    x = np.linspace(-2, 2, 4001)
    return np.sqrt(np.mean(np.where(x < 0, np.sin(8 * np.pi * x), 0) ** 2))


def test_seeds_differ_and_settings_of_a_seed_begin_alike():
    starts = [prepared(draw, 0)[0] for draw in DRAWS.values()]
    np.testing.assert_array_equal(starts[0].params, starts[1].params)
    other, _ = prepared(regression.draw_unbiased, 1)
    assert not np.array_equal(starts[0].params, other.params)
