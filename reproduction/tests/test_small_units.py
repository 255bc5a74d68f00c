"""A small unit of each experiment is computed, beside numbers from elsewhere."""

import math
import threading
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.integrate import quad

from freqdyna import envs
from freqdyna.agents.networks.mlp import init_network
from freqdyna.results.draw_matplotlib import draw
from reproduction import registry
from reproduction.base import Stored, Work
from reproduction.claims import Claim
from reproduction.parts.bandwidth import analysis as b_analysis
from reproduction.parts.bandwidth import units as b
from reproduction.parts.e2 import units as e2
from reproduction.parts.f1 import units as f1
from reproduction.parts.f2 import units as f2
from reproduction.parts.regression import regression
from reproduction.parts.t1 import units as t1
from reproduction.parts.uncertainty import units as u


def work(folder):
    return Work(folder, lambda done, total: None, threading.Event())


def stored(unit, folder):
    """What computing and storing the unit would leave."""
    folder.mkdir(exist_ok=True)
    return Stored(unit.compute(work(folder)), unit.settings, {})


def analysed(name, units, folder):
    """The findings, whose chart can be drawn."""
    findings = registry.find(name).analyse(units)
    draw(findings.chart).savefig(folder / "figure.png")
    return findings


def test_e2_integrates_both_derivatives(tmp_path, monkeypatch):
    monkeypatch.setattr(e2, "ORDERS", (1, 3))
    (unit,) = e2.units(True)
    found = stored(unit, tmp_path)
    assert found.columns["derivative"].tolist() == [1, 2] * 4
    generator, expected = np.random.default_rng(0), []
    for order in (1, 1, 3, 3):
        drawn, n = generator.normal(size=2 * order + 1), np.arange(1, order + 1)
        squares = drawn[1 : order + 1] ** 2 + drawn[order + 1 :] ** 2
        expected += [np.pi * (n**2 @ squares), np.pi * (n**4 @ squares)]
    np.testing.assert_allclose(found.columns["integral"], expected, rtol=1e-10)
    np.testing.assert_allclose(found.columns["formula"], expected, rtol=1e-5)
    verdicts = [c.verdict for c in analysed("E2", {"series": found}, tmp_path).claims]
    assert verdicts == ["holds", "holds"]


def test_t1_has_both_orders_of_a_parabola(tmp_path, monkeypatch):
    """1 − y² has the transform 4 (sin ω − ω cos ω) / ω³ with ω = 2πk, and ∫f′² = 8/3, ∫f″² = 8."""
    monkeypatch.setattr(t1, "QUICK", (1, 2, 4))
    units = {unit.name: stored(unit, tmp_path) for unit in t1.units(True)}
    columns = units["1-d"].columns
    own = columns["function"] == "1 − r²"

    def side(k, power):
        w = 2 * np.pi * k
        return 2 * (4 * (np.sin(w) - w * np.cos(w)) / w**3) ** 2 * w**power

    for name, power, left in (("first_order", 2, 8 / 3), ("second_order", 4, 8)):
        right = [quad(side, 1e-6, cutoff, (power,), limit=200)[0] for cutoff in (1, 2, 4)]
        np.testing.assert_allclose(columns[name][own], np.array(right) / left, rtol=1e-6)
    wave = columns["function"] == "cos(2πy₁)"
    assert set(columns["boundary"][wave]) == {"jump"}
    flat = units["2-d"].columns["function"] == "(1 − r²)⁴"
    np.testing.assert_allclose(units["2-d"].columns["second_order"][flat][-1], 1, atol=0.01)
    assert len(analysed("T1", units, tmp_path).claims) == 12


@pytest.mark.parametrize(
    ("name", "boundary", "centre", "expected"),
    [
        ("(1 − r²)⁴", "flat", 0.0, lambda y, r: (1 - r**2) ** 4),
        (
            "(1 − r²)⁴ cos(4πy₁ + 0.3)",
            "flat",
            0.0,
            lambda y, r: (1 - r**2) ** 4 * math.cos(4 * math.pi * y + 0.3),
        ),
        ("1 − r²", "zero", 0.0, lambda y, r: 1 - r**2),
        ("f_sin around −1", "zero", -1.0, lambda y, r: math.sin(8 * math.pi * y)),
        ("cos(2πy₁)", "jump", 0.0, lambda y, r: math.cos(2 * math.pi * y)),
        ("sin(8πy) around −0.9", "jump", -0.9, lambda y, r: math.sin(8 * math.pi * y)),
    ],
)
def test_t1_integrates_the_functions_that_it_names(name, boundary, centre, expected):
    found, function, first = t1.CASES[name]
    assert (found, first) == (boundary, centre)
    dimensions = [n for n in (1, 2) if name in t1.cases(n)]
    assert dimensions == ([1] if "around" in name else [1, 2])
    for n in dimensions:
        for step in (-0.77, -0.31, 0.05, 0.43):
            y = np.array([centre + step, 0.2][:n])
            length = math.hypot(*y)
            assert float(function(jnp.asarray(y))) == pytest.approx(
                expected(y[0], length), abs=2e-5
            )


def test_u_gives_both_forms_of_the_bound(tmp_path):
    gaussians = u._gaussians([0.05, 2.0], work(tmp_path))
    assert gaussians["kind"].tolist() == ["cut", "cut", "vanishing", "vanishing"]
    for form in ("gradient_form", "frequency_form"):
        # Equality for a narrow Gaussian; (1 − y²)² alters it a little.
        np.testing.assert_allclose(gaussians[form][[0, 2]], 1, atol=2e-4)
        assert gaussians[form][3] > 1.01
    assert gaussians["gradient_form"][1] < 0.1
    random = u._random(2, work(tmp_path))
    np.testing.assert_allclose(random["gradient_form"], random["frequency_form"], rtol=1e-4)
    assert (random["gradient_form"] > 1).all()
    units = {"gaussians": Stored(gaussians, {}, {}), "polynomials": Stored(random, {}, {})}
    verdicts = [c.verdict for c in analysed("U", units, tmp_path).claims]
    assert verdicts == ["holds", "holds", "holds", "does not hold"]


def test_f1_and_f2_are_trained_and_analysed(tmp_path, monkeypatch):
    monkeypatch.setattr(regression, "EVALUATIONS_A_SLICE", 5)
    both = f1.DRAWS | f2.BY_NORM
    found = stored(regression.curves_unit(both, 2, 100), tmp_path)
    assert list(dict.fromkeys(found.columns["setting"].tolist())) == list(both)
    assert (np.diff(np.unique(found.columns["update"])) == 20).all()
    rows = {name: found.columns["setting"] == name for name in both}
    parts = {}
    for name, draws in (("F1", f1.DRAWS), ("F2", {"Unbiased": ...} | f2.BY_NORM)):
        keep = np.any([rows[setting] for setting in draws], axis=0)
        parts[name] = Stored({k: v[keep] for k, v in found.columns.items()}, {}, {})
    findings = analysed("F1", {"curves": parts["F1"]}, tmp_path)
    assert [row[0] for row in findings.summary[1:]] == list(f1.DRAWS)
    assert len(findings.claims) == 3 * 9
    units = {unit.name: unit for unit in f2.units(True)}
    points = stored(units["points"], tmp_path)
    shares = Stored(f2._shares(3, work(tmp_path)), {}, {})
    for name in f2.BY_NORM:
        assert (points.columns["setting"] == name).sum() == 1000
        assert (shares.columns["setting"] == name).sum() == 3
    findings = analysed("F2", {"curves": parts["F2"], "shares": shares, "points": points}, tmp_path)
    assert len(findings.claims) == 4 + 3 * 3
    x, y = (points.columns[k][:1000] for k in "xy")
    inside = 100 * np.mean(x <= 0), 100 * np.mean(np.abs(np.abs(y) - 1) < 0.1)
    title = findings.chart.panels[1].title
    assert f"{inside[0]:.1f}% in [−2, 0], {inside[1]:.1f}% in the spike band" in title


def test_b_trains_and_tells_which_seeds_solved_it(tmp_path, monkeypatch):
    monkeypatch.setattr(b, "QUICK", b.QUICK | {"steps": 100, "warmup_steps": 50})
    car, maze = b.units(True)
    assert maze.settings["hidden"] == [64, 64]
    walls = np.array(maze.settings["walls"])
    np.testing.assert_allclose(walls, envs.make("MazeGridWorld").blocks, atol=1e-6)
    assert "walls" not in car.settings
    assert maze.settings["algorithm"] == b.TRAININGS["MazeGridWorld"]["algorithm"]
    trained = stored(maze, tmp_path / "maze")
    count = 2 * 64 + 64 * 64 + 64 * 4 + 64 + 64 + 4
    assert trained.columns["parameter"].shape == (2 * count,)
    assert trained.columns["parameter"].std() > 0.01
    assert trained.columns["last_return"].max() < b_analysis.SOLVED
    networks = [init_network(jax.random.key(seed), (2, 32, 32, 3)) for seed in range(2)]
    flat = np.stack([ravel_pytree(network)[0] for network in networks])
    columns = {
        "seed": np.repeat(np.arange(2), flat.shape[1]),
        "last_return": np.repeat([-500.0, -110.0], flat.shape[1]),
        "parameter": flat.ravel(),
    }
    units = {car.name: Stored(columns, car.settings, {}), maze.name: trained}
    findings = analysed("B", units, tmp_path)
    trained = findings.notes[-1]
    assert "1 of 2 seeds solved it (mean return -110), excluded: seeds 0" in trained
    assert "0 of 2 seeds solved it (mean return -" in trained
    assert trained.endswith("all are shown, and nothing is decided.")
    assert "nan" not in " ".join(findings.notes)
    told = " ".join(findings.notes)
    assert "On MountainCar-v0 the verdicts with plane and with mean removed" in told
    assert "On MazeGridWorld the verdicts" not in told
    assert findings.chart.panels[0].title == "MountainCar-v0: V, seed 1"
    assert {c.verdict for c in findings.claims if "Maze" in c.what} == {"undecided"}
    assert [len(row) for row in findings.summary] == [2 + 4] * 9


def test_b_judges_a_seed_by_its_last_evaluations(tmp_path, monkeypatch):
    returns = np.stack([np.arange(10.0), 100 + np.arange(10.0) ** 2])
    result = SimpleNamespace(
        parameters=np.arange(6.0).reshape(2, 3), returns=returns, seeds=np.arange(2)
    )
    monkeypatch.setattr(b.api, "train", lambda **settings: result)
    columns = b.units(True)[0].compute(work(tmp_path))
    assert columns["seed"].tolist() == [0, 0, 0, 1, 1, 1]
    assert columns["parameter"].tolist() == list(range(6))
    assert columns["last_return"].tolist() == [7.0] * 3 + [151.0] * 3


def test_b_sees_where_a_surface_is_faster():
    """Of a surface whose frequency grows along x, g and bandwidth rank regions alike."""
    env = envs.make("MazeGridWorld")
    x = np.linspace(0, 1, 64)[:, None] + np.zeros(64)
    phase = 2 * math.pi * (4 * x + 10 * x**2)
    value = np.sin(phase) + 30 * x
    speed = np.abs(np.gradient(phase, x[:, 0], axis=0))
    for size in b_analysis.SIZES:
        regions = b_analysis._regions(env, value, speed**4, size)
        assert b_analysis._rank_correlation(regions, "bandwidth") > 0.9


def test_b_tells_whether_its_bandwidths_agree_and_of_which_coordinate_they_are():
    def rows(first, second):
        return [
            Claim(b_analysis._what("MountainCar-v0", key), "-", "", "", verdict, "correlation")
            for key, verdict in zip(b_analysis.BANDWIDTHS, (first, second), strict=True)
        ]

    solved = {"MountainCar-v0": np.arange(2)}
    notes = b_analysis._on_bandwidths(
        rows("undecided", "does not hold"), {"MountainCar-v0": [0.99, 0.98]}, solved
    )
    assert notes[0].endswith("removed disagree (undecided; does not hold).")
    assert notes[1].endswith("so the bandwidth is almost entirely that of velocity.")
    notes = b_analysis._on_bandwidths(
        rows("holds", "holds"), {"MountainCar-v0": [0.99, 0.5]}, solved
    )
    assert notes[0].endswith("removed agree (holds).")
    assert "alone" not in notes[1]


def test_b_knows_along_which_coordinate_a_surface_moves():
    env = envs.make("MazeGridWorld")
    x, y = np.meshgrid(*[np.linspace(0, 1, 64)] * 2, indexing="ij")
    for trend in b_analysis.TRENDS:
        assert b_analysis._second_share(env, np.sin(60 * y), trend) > 0.9
        assert b_analysis._second_share(env, np.sin(60 * x), trend) < 0.1
        even = b_analysis._second_share(env, np.sin(60 * x) + np.sin(60 * y), trend)
        np.testing.assert_allclose(even, 0.5, atol=0.05)
