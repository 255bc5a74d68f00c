"""A1, E1, E2, T1 and U: small units are computed, beside numbers from elsewhere."""

import numpy as np
import pytest
from scipy.integrate import quad

from freqdyna.results.draw import draw
from reproduction import a1, e, t1, u
from reproduction.study import Stored, Unit

pytestmark = pytest.mark.slow


def stored(unit):
    """What computing and storing the unit would leave."""
    return Stored(unit, unit.table(), {})


def analysed(part, units):
    """The claims of findings whose chart can be drawn."""
    findings = part.analyse(units)
    draw(findings.chart)
    return findings.claims


def test_e1_has_the_papers_integrals():
    (unit,) = e.E1.units(True)
    verdicts = [c.verdict for c in analysed(e.E1, {"integrals": stored(unit)})]
    assert verdicts == ["holds", "holds"]


def test_e2_integrates_both_derivatives(monkeypatch):
    monkeypatch.setattr(e, "ORDERS", (3,))
    (unit,) = e.E2.units(True)
    series = stored(unit)
    assert series.columns["derivative"].tolist() == [1, 2, 1, 2]
    generator, expected, n = np.random.default_rng(0), [], np.arange(1, 4)
    for _ in range(2):
        drawn = generator.normal(size=7)
        squares = drawn[1:4] ** 2 + drawn[4:] ** 2
        expected += [np.pi * (n**2 @ squares), np.pi * (n**4 @ squares)]
    np.testing.assert_allclose(series.columns["integral"], expected, rtol=1e-10)
    np.testing.assert_allclose(series.columns["formula"], expected, rtol=1e-5)
    verdicts = [c.verdict for c in analysed(e.E2, {"series": series})]
    assert verdicts == ["holds", "holds"]


def test_t1_has_both_orders_of_a_parabola(monkeypatch):
    """1 − y² has the transform 4 (sin ω − ω cos ω) / ω³ with ω = 2πk, and ∫f′² = 8/3, ∫f″² = 8."""
    names = ("(1 − r²)⁴", "1 − r²", "cos(2πy₁)")
    monkeypatch.setattr(t1, "CASES", {name: t1.CASES[name] for name in names})
    line = stored(t1.units(True)[0])
    columns = line.columns
    parabola = columns["function"] == "1 − r²"

    def side(k, power):
        w = 2 * np.pi * k
        return 2 * (4 * (np.sin(w) - w * np.cos(w)) / w**3) ** 2 * w**power

    for name, power, left in (("first_order", 2, 8 / 3), ("second_order", 4, 8)):
        right = [quad(side, 1e-6, cutoff, (power,), limit=200)[0] for cutoff in t1.QUICK]
        np.testing.assert_allclose(columns[name][parabola], np.array(right) / left, rtol=1e-6)
    assert set(columns["boundary"][columns["function"] == "cos(2πy₁)"]) == {"jump"}
    # The identities on the disc are tested with the theory.
    assert len(analysed(t1.PART, {"1-d": line, "2-d": line})) == 12


def test_u_gives_both_forms_of_the_bound():
    columns, random = u._gaussians([0.1]), u._polynomials(1)
    assert columns["kind"].tolist() == ["cut", "vanishing"]
    np.testing.assert_allclose(random["gradient_form"], random["frequency_form"], rtol=1e-4)
    assert (random["gradient_form"] > 1).all()
    for form in ("gradient_form", "frequency_form"):
        # Equality for a narrow Gaussian; (1 − y²)² alters it a little.
        np.testing.assert_allclose(columns[form], 1, atol=2e-3)
    columns["gradient_form"] = np.array([0.1, 1.0002])  # a wide one that was cut, a narrow one
    units = {"gaussians": columns, "polynomials": random}
    units = {name: Stored(Unit(name, {}), of, {}) for name, of in units.items()}
    verdicts = [c.verdict for c in analysed(u.PART, units)]
    assert verdicts == ["holds", "holds", "holds", "does not hold"]


def test_a1_has_shorter_episodes_with_more_updates():
    units, firsts = {}, dict(zip(a1.UPDATES, (25, 5, 3), strict=True))
    for updates, first in firsts.items():  # episodes of 500 steps before it, of 17 from there on
        lengths = np.where(np.arange(1, a1.EPISODES + 1) < first, 500, 17)
        spread = np.random.default_rng(first).integers(3, size=(8, a1.EPISODES))
        columns = {"length": (lengths + spread).ravel()}
        units[f"updates-{updates}"] = Stored(Unit("", {}), columns, {})
    findings = a1.analyse(units)
    assert {claim.verdict for claim in findings.claims} == {"holds"}
    assert [row[-2] for row in findings.summary[1:]] == [str(first) for first in firsts.values()]
    columns["length"][-1] = 0  # the last episode was not completed
    assert np.isnan(a1.lengths(units["updates-50"])[-1, -1])
