"""E2, T1 and U: small units are computed, beside numbers from elsewhere."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from freqdyna.results.draw import draw
from reproduction import e, t1, u
from reproduction.study import Stored


def stored(unit):
    """What computing and storing the unit would leave."""
    return Stored(unit, unit.table(lambda done, total: None), {})


def analysed(part, units, folder):
    """The claims of findings whose chart can be drawn."""
    findings = part.analyse(units)
    draw(findings.chart).savefig(folder / "figure.png")
    return findings.claims


def test_e1_has_the_papers_integrals(tmp_path):
    (unit,) = e.E1.units(True)
    verdicts = [c.verdict for c in analysed(e.E1, {"integrals": stored(unit)}, tmp_path)]
    assert verdicts == ["holds", "holds"]


def test_e2_integrates_both_derivatives(tmp_path, monkeypatch):
    monkeypatch.setattr(e, "ORDERS", (1, 3))
    (unit,) = e.E2.units(True)
    found = stored(unit)
    assert found.columns["derivative"].tolist() == [1, 2] * 4
    generator, expected = np.random.default_rng(0), []
    for order in (1, 1, 3, 3):
        drawn, n = generator.normal(size=2 * order + 1), np.arange(1, order + 1)
        squares = drawn[1 : order + 1] ** 2 + drawn[order + 1 :] ** 2
        expected += [np.pi * (n**2 @ squares), np.pi * (n**4 @ squares)]
    np.testing.assert_allclose(found.columns["integral"], expected, rtol=1e-10)
    np.testing.assert_allclose(found.columns["formula"], expected, rtol=1e-5)
    verdicts = [c.verdict for c in analysed(e.E2, {"series": found}, tmp_path)]
    assert verdicts == ["holds", "holds"]


def test_t1_has_both_orders_of_a_parabola(tmp_path, monkeypatch):
    """1 − y² has the transform 4 (sin ω − ω cos ω) / ω³ with ω = 2πk, and ∫f′² = 8/3, ∫f″² = 8."""
    monkeypatch.setattr(t1, "QUICK", (1, 2, 4))
    units = {unit.name: stored(unit) for unit in t1.units(True)}
    columns = units["1-d"].columns
    parabola = columns["function"] == "1 − r²"

    def side(k, power):
        w = 2 * np.pi * k
        return 2 * (4 * (np.sin(w) - w * np.cos(w)) / w**3) ** 2 * w**power

    for name, power, left in (("first_order", 2, 8 / 3), ("second_order", 4, 8)):
        right = [quad(side, 1e-6, cutoff, (power,), limit=200)[0] for cutoff in (1, 2, 4)]
        np.testing.assert_allclose(columns[name][parabola], np.array(right) / left, rtol=1e-6)
    wave = columns["function"] == "cos(2πy₁)"
    assert set(columns["boundary"][wave]) == {"jump"}
    flat = units["2-d"].columns["function"] == "(1 − r²)⁴"
    np.testing.assert_allclose(units["2-d"].columns["second_order"][flat][-1], 1, atol=0.01)
    assert len(analysed(t1.PART, units, tmp_path)) == 12


@pytest.mark.parametrize("name", t1.CASES)
def test_t1_integrates_functions_that_behave_as_it_says_on_the_boundary(name):
    boundary, function, first = t1.CASES[name]
    for sign in (-1, 1):
        value = abs(float(function(jnp.array([first + sign, 0.0]))))
        assert (value < 1e-5) == (boundary in ("flat", "zero"))
        step = 1e-3
        inside = float(function(jnp.array([first + sign * (1 - step), 0.0])))
        assert (abs(inside) < 10 * step**2) == (boundary == "flat")
    assert math.isfinite(float(function(jnp.array([first, 0.0]))))


def test_u_gives_both_forms_of_the_bound(tmp_path):
    gaussians, polynomials = u.units(True)
    columns = u._gaussians([0.05, 2.0], lambda done, total: None)
    assert columns["kind"].tolist() == ["cut", "cut", "vanishing", "vanishing"]
    for form in ("gradient_form", "frequency_form"):
        # Equality for a narrow Gaussian; (1 − y²)² alters it a little.
        np.testing.assert_allclose(columns[form][[0, 2]], 1, atol=2e-4)
        assert columns[form][3] > 1.01
    assert columns["gradient_form"][1] < 0.1
    random = u._polynomials(2, lambda done, total: None)
    np.testing.assert_allclose(random["gradient_form"], random["frequency_form"], rtol=1e-4)
    assert (random["gradient_form"] > 1).all()
    units = {"gaussians": Stored(gaussians, columns, {})}
    units["polynomials"] = Stored(polynomials, random, {})
    verdicts = [c.verdict for c in analysed(u.PART, units, tmp_path)]
    assert verdicts == ["holds", "holds", "holds", "does not hold"]
