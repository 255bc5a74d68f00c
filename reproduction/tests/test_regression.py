"""The regression of F1 and F2: its data, one small training, and analyses of made-up curves."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.stats import kstest, norm, uniform

from freqdyna.results.draw import draw
from reproduction import f1, f2, regression
from reproduction.regression import Curves, f_sin
from reproduction.study import Stored, Unit

SEEDS, UPDATES = 12, np.arange(100, 40_001, 100)
PLAIN = (10_000, 20_000, 30_000)  # the updates at which the errors 0.48, 0.45, 0.42 are reached
FASTER, SLOWER = (7_000, 15_000, 22_000), (13_000, 25_000, 36_000)
LATE = (14_000, 18_000, 26_000)  # slower to the first threshold, faster to the others


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


@pytest.mark.parametrize("name", [name for name in f1.DRAWS if name != "Unbiased"])
def test_each_data_set_of_f1_has_the_share_in_its_name(name):
    share = int(name.split()[1].rstrip("%"))
    high = 40 * (share if "high" in name else 100 - share)
    x = np.asarray(jax.jit(f1.DRAWS[name])(jax.random.key(3)))
    assert x.shape == (4000,)
    assert int((x < 0).sum()) == high
    for part, low in ((x[x < 0], -2.0), (x[x >= 0], 0.0)):
        assert kstest(part, uniform(low, 2).cdf).pvalue > 1e-3


@pytest.fixture(scope="module")
def trained():
    """The start of the first seed with unbiased data, and its state and errors after 40 updates."""
    start = jax.jit(partial(regression.prepare, regression.draw_unbiased))(jax.random.key(0))
    return start, jax.jit(partial(regression.advance, evaluations=2))(*start)


@pytest.mark.default_compiler
def test_the_test_error_is_that_of_the_network_from_the_noiseless_function(trained):
    (_, task), (fit, errors) = trained
    # The network 1-16-16-1 of tanh units in NumPy, from its flat parameters.
    flat = np.asarray(fit.params, np.float64)
    w1, w2, w3, b1, b2, b3 = np.split(flat, [16, 272, 288, 304, 320])
    hidden = np.tanh(np.outer(np.asarray(task.test), w1) + b1)
    predicted = np.tanh(hidden @ w2.reshape(16, 16) + b2) @ w3 + b3
    difference = predicted - np.asarray(f_sin(task.test))
    assert float(errors[1]) == pytest.approx(np.sqrt(np.mean(difference**2)), rel=1e-4)
    assert int(optax.tree.get(fit.optimizer, "count")) == 40


@pytest.mark.slow
def test_all_seeds_are_trained_in_one_program(trained):
    draws = {"Unbiased": regression.draw_unbiased}
    curves = Curves.of(regression.learning_curves(draws, 2, 80))
    assert curves.updates.tolist() == [20, 40, 60, 80]
    assert curves.errors["Unbiased"].shape == (2, 4)
    np.testing.assert_allclose(curves.errors["Unbiased"][0, :2], trained[1][1], rtol=2e-3)


def curves_through(reached):
    """Curves from 0.6 through the thresholds at these updates, a little apart by seed."""
    shift = np.random.default_rng(0).normal(0, 100, SEEDS)
    points = [0.6, 0.48, 0.45, 0.42, 0.4]
    return np.stack(
        [np.interp(UPDATES, [0, *(np.array(reached) + by), 40_000], points) for by in shift]
    )


def columns_of(draws, reached=PLAIN):
    return {
        "setting": np.repeat(list(draws), SEEDS * len(UPDATES)),
        "update": np.tile(UPDATES, SEEDS * len(draws)),
        "test_error": np.concatenate([curves_through(reached).ravel() for _ in draws]),
    }


@pytest.mark.slow
def test_f1_and_f2_are_analysed():
    draws = {"Unbiased": regression.draw_unbiased, **f2.BY_NORM}
    tables = {"curves": columns_of(draws), "shares": f2._shares(40)}
    hessian = tables["shares"]["setting"] == "Biased-HessianNorm"
    for region, expected in (("high_frequency", 69.40), ("spikes", 27.40)):
        mean = tables["shares"][region][hessian].mean()
        assert mean == pytest.approx(expected, abs=5 * 1.5 / np.sqrt(40))  # of 1,000 points each
    for part, units in ((f1, {"curves": columns_of(f1.DRAWS)}), (f2, tables)):
        stored = {name: Stored(Unit("", {}), of, {}) for name, of in units.items()}
        findings = part.analyse(stored)
        draw(findings.chart)
        of_curves = [claim for claim in findings.claims if claim.rule != "sampling"]
        assert {claim.verdict for claim in of_curves} == {"undecided"}
        assert len(of_curves) == (27 if part is f1 else 9)


def test_speed_is_judged_by_all_thresholds():
    reached = {"plain": PLAIN, "faster": FASTER, "slower": SLOWER, "late": LATE}
    curves = Curves(UPDATES, {name: curves_through(at) for name, at in reached.items()})
    verdicts = {}
    for name in ("faster", "slower", "late"):
        judged = curves.compared(f1.SPEED, f1.ERROR, name, "plain", "below 0", comparisons=9)
        assert [claim.statement for claim in judged] == [f1.SPEED, f1.ERROR, f1.ERROR]
        verdicts[name] = judged[0].verdict
    assert verdicts == {"faster": "holds", "slower": "does not hold", "late": "undecided"}
