"""The regression of F1 and F2: its data, one small training, and analyses of made-up curves."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.stats import kstest, norm, uniform

from freqdyna.results.draw import draw
from reproduction import claims, f1, f2, regression
from reproduction.regression import Curves, f_sin
from reproduction.study import Stored, Unit

SEEDS, UPDATES = 12, np.arange(100, 40_001, 100)
PLAIN = (10_000, 20_000, 30_000)
"""The updates at which unbiased data reach 0.48, 0.45 and 0.42."""
FASTER, SLOWER = (7_000, 15_000, 22_000), (13_000, 25_000, 36_000)
LATE = (14_000, 18_000, 26_000)
"""Slower to the first threshold, faster to the others."""


def test_f_sin_is_the_papers():
    x = jnp.array([-1.97, -0.03, 0.0, 0.5, 2.0])
    expected = [np.sin(8 * np.pi * -1.97), np.sin(8 * np.pi * -0.03), 0, 1, 0]
    np.testing.assert_allclose(f_sin(x), expected, atol=1e-5)
    grid = np.linspace(-2, 2, 4001)
    low_half_only = np.where(grid < 0, np.sin(8 * np.pi * grid), 0)
    assert np.sqrt(np.mean(low_half_only**2)) == pytest.approx(regression.PLATEAU, abs=1e-3)


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
    draw_points = f2.BY_NORM["Biased-HessianNorm"]
    keys = jax.random.split(jax.random.key(1), 50)
    shares = jax.jit(partial(jax.lax.map, partial(f2.shares, draw_points)))
    mean = np.asarray(shares(keys)).mean(axis=0)
    np.testing.assert_allclose(mean, [69.40, 27.40], atol=5 * 0.47 / np.sqrt(10))  # 50,000 points


@pytest.mark.parametrize("name", [name for name in f1.DRAWS if name != "Unbiased"])
def test_each_data_set_of_f1_has_the_share_in_its_name(name):
    share = int(name.split()[1].rstrip("%"))
    high = 40 * (share if "high" in name else 100 - share)
    x = np.asarray(jax.jit(f1.DRAWS[name])(jax.random.key(3)))
    assert x.shape == (4000,)
    assert int((x < 0).sum()) == high
    for part, low in ((x[x < 0], -2.0), (x[x >= 0], 0.0)):
        assert kstest(part, uniform(low, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", ["Biased-high 80%", "Biased-HessianNorm"])
def test_networks_are_tested_on_all_of_the_interval(name):
    prepare = partial(regression.prepare, (f1.DRAWS | f2.BY_NORM)[name])
    _, tasks = jax.vmap(prepare)(jax.random.split(jax.random.key(4), 10))
    assert np.asarray(tasks.x).shape == (10, 4000)
    assert kstest(np.asarray(tasks.test).ravel(), uniform(-2, 4).cdf).pvalue > 1e-3
    noise = np.asarray(tasks.y - f_sin(tasks.x)).ravel()
    assert kstest(noise[:20_000], norm(0, 0.1).cdf).pvalue > 1e-3


@pytest.fixture(scope="module")
def start():
    return jax.jit(partial(regression.prepare, regression.draw_unbiased))(jax.random.key(0))


@pytest.mark.default_compiler
def test_the_test_error_is_that_of_the_network_from_the_noiseless_function(start):
    fit, task = start
    fit, errors = jax.jit(partial(regression.advance, evaluations=2))(fit, task, jnp.int32(0))
    # The network 1-16-16-1 of tanh units in NumPy, from its flat parameters.
    flat = np.asarray(fit.params, np.float64)
    w1, w2, w3, b1, b2, b3 = np.split(flat, [16, 272, 288, 304, 320])
    hidden = np.tanh(np.outer(np.asarray(task.test), w1) + b1)
    predicted = np.tanh(hidden @ w2.reshape(16, 16) + b2) @ w3 + b3
    difference = predicted - np.asarray(f_sin(task.test))
    assert float(errors[1]) == pytest.approx(np.sqrt(np.mean(difference**2)), rel=1e-4)
    assert int(optax.tree.get(fit.optimizer, "count")) == 40


def test_the_first_update_is_adams(start):
    """Adam's first step is the step size for every parameter whose slope is not tiny."""
    fit, task = start
    x, y = jax.jit(regression.batches)(task, jnp.int32(0))
    assert x.shape == y.shape == (20, 128)
    first = jax.jit(lambda fit, x, y: regression.update(fit, x[0], y[0]))(fit, x, y)
    step = np.abs(np.asarray(first.params) - np.asarray(fit.params))
    assert step.max() == pytest.approx(1e-3, rel=1e-3)
    assert np.quantile(step, 0.1) == pytest.approx(1e-3, rel=0.01)


def test_each_evaluation_follows_batches_of_its_own(start):
    batches = jax.jit(regression.batches)
    drawn = [np.asarray(batches(start[1], jnp.int32(number))[0]) for number in (0, 1)]
    assert (drawn[0] == drawn[1]).mean() < 0.01
    assert (drawn[0][0] == drawn[0][1]).mean() < 0.05  # nor do updates share theirs


def test_f2_is_trained_and_analysed(tmp_path, monkeypatch):
    monkeypatch.setattr(regression, "EVALUATIONS_A_CALL", 5)
    draws = {"Unbiased": regression.draw_unbiased, **f2.BY_NORM}
    columns = regression.learning_curves(draws, 2, 100, lambda done, total: None)
    curves = Curves.of(columns)
    assert list(curves.errors) == list(draws)
    assert curves.updates.tolist() == [20, 40, 60, 80, 100]
    for seed, curve in enumerate(curves.errors["Unbiased"]):  # each seed's own
        begun = jax.jit(partial(regression.prepare, regression.draw_unbiased))(jax.random.key(seed))
        _, alone = jax.jit(partial(regression.advance, evaluations=2))(*begun, jnp.int32(0))
        np.testing.assert_allclose(curve[:2], alone, rtol=2e-3)
    shares = f2._shares(3, lambda done, total: None)
    tables = {"curves": columns, "shares": shares}
    findings = f2.analyse({name: Stored(Unit("", {}), of, {}) for name, of in tables.items()})
    draw(findings.chart).savefig(tmp_path / "figure.png")
    assert [row[0] for row in findings.summary[1:]] == list(draws)
    assert len(findings.claims) == 4 + 3 * 3


def test_f1_is_analysed(tmp_path):
    made_up = np.concatenate([curves_through(PLAIN).ravel() for _ in f1.DRAWS])
    columns = {
        "setting": np.repeat(list(f1.DRAWS), SEEDS * len(UPDATES)),
        "update": np.tile(UPDATES, SEEDS * len(f1.DRAWS)),
        "test_error": made_up,
    }
    findings = f1.analyse({"curves": Stored(Unit("", {}), columns, {})})
    draw(findings.chart).savefig(tmp_path / "figure.png")
    assert {claim.verdict for claim in findings.claims} == {"undecided"}
    assert len(findings.claims) == 3 * 9


def curves_through(reached):
    """Curves from 0.6 through the thresholds at these updates, a little apart by seed."""
    shift = np.random.default_rng(0).normal(0, 100, SEEDS)
    points = [0.6, 0.48, 0.45, 0.42, 0.4]
    return np.stack(
        [np.interp(UPDATES, [0, *(np.array(reached) + by), 40_000], points) for by in shift]
    )


def test_speed_is_judged_by_all_thresholds():
    reached = {"plain": PLAIN, "faster": FASTER, "slower": SLOWER, "late": LATE}
    curves = Curves(UPDATES, {name: curves_through(at) for name, at in reached.items()})
    verdicts = {}
    for name in ("faster", "slower", "late"):
        found = curves.compared(f1.SPEED, f1.ERROR, name, "plain", "below 0", comparisons=9)
        assert [claim.statement for claim in found] == [f1.SPEED, f1.ERROR, f1.ERROR]
        verdicts[name] = found[0].verdict
        if name == "faster":
            shown = [float(one.replace(",", "")) for one in found[0].ours.split("; ")]
            np.testing.assert_allclose(shown, [-3000, -5000, -8000], atol=100)
    assert verdicts == {"faster": "holds", "slower": "does not hold", "late": "undecided"}
    worse = curves.compared(f1.SPEED, f1.ERROR, "slower", "plain", "-", False, comparisons=1)
    assert worse[0].verdict == "holds"


def test_speed_is_the_first_evaluation_below_the_threshold():
    slow = np.array([[0.6, 0.5, 0.5], [0.6, 0.5, 0.44]])
    curves = Curves(np.array([20, 40, 60]), {"slow": slow})
    assert curves.updates_to("slow", 0.45).tolist() == [np.inf, 60]
    (row,) = curves.speed_table()[1:]
    assert [cell.split("], ")[1] for cell in row[1:4]] == ["1 of 2", "1 of 2", "2 of 2"]


def test_the_error_over_the_run_is_shown_by_its_length():
    """A curve that is above by 0.1 in the first quarter, and below by 0.1 from there on."""
    early = np.arange(len(UPDATES)) < len(UPDATES) // 4
    noise = np.random.default_rng(1).normal(0, 0.001, (SEEDS, 1))
    plain = np.full((SEEDS, len(UPDATES)), 0.5)
    curves = Curves(UPDATES, {"Unbiased": plain, "a": plain + np.where(early, 0.1, -0.1) + noise})
    header, row = curves.length_table(f1.ERROR, ["a"])
    ends = ["5,000", "10,000", "20,000", "30,000", "40,000"]
    assert header[1:] == [f"up to update {end}" for end in ends]
    means = [float(cell.split(" [")[0]) for cell in row[1:]]
    np.testing.assert_allclose(means, [0.1, 0.1, 0, -0.1 / 3, -0.05], atol=0.002)
    words = [cell.split(": ")[1] for cell in row[1:]]
    assert words == ["worse", "worse", "undecided", "better", "better"]


def test_the_comparisons_by_length_are_corrected_for_their_number():
    """A difference of 2.3 standard errors is enough for one comparison, but not for five."""
    spread = np.linspace(-1, 1, SEEDS)
    difference = spread - 2.3 * spread.std(ddof=1) / np.sqrt(SEEDS)
    assert claims.difference(f1.ERROR, "", "", difference).verdict == "holds"
    plain = np.full((SEEDS, len(UPDATES)), 0.5)
    curves = Curves(UPDATES, {"Unbiased": plain, "a": plain + difference[:, None]})
    row = curves.length_table(f1.ERROR, ["a"])[1]
    assert all(cell.endswith("undecided") for cell in row[1:])
