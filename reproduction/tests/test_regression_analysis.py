"""The analyses of F1 and F2 on made-up curves whose outcome is known."""

import numpy as np
import pytest

from reproduction import claims, registry
from reproduction.base import Stored
from reproduction.parts.f1 import units as f1
from reproduction.parts.f1.analysis import ahead_from
from reproduction.parts.f2 import units as f2
from reproduction.parts.regression import run_length

SEEDS, UPDATES = 12, np.arange(100, 40_001, 100)
PLAIN = (10_000, 20_000, 30_000)
"""The updates at which unbiased data reach 0.48, 0.45 and 0.42."""
FASTER, SLOWER = (7_000, 15_000, 22_000), (13_000, 25_000, 36_000)
LATE = (14_000, 18_000, 26_000)
"""Slower to the first threshold, faster to the others."""


def curves(reached):
    """Curves from 0.6 through the thresholds at these updates, a little apart by seed."""
    shift = np.random.default_rng(0).normal(0, 100, SEEDS)
    points = [0.6, 0.48, 0.45, 0.42, 0.4]
    return np.stack(
        [np.interp(UPDATES, [0, *(np.array(reached) + by), 40_000], points) for by in shift]
    )


def made_up(reached):
    return Stored(
        {
            "setting": np.repeat(list(reached), SEEDS * len(UPDATES)),
            "update": np.tile(UPDATES, SEEDS * len(reached)),
            "test_error": np.concatenate([curves(at).ravel() for at in reached.values()]),
        },
        {},
        {},
    )


def speeds(findings):
    """Verdicts on speed by what is compared."""
    return {
        claim.what.split(", updates until")[0]: (claim.paper, claim.verdict)
        for claim in findings.claims
        if "updates until the test error is below 0.48, 0.45, 0.42" in claim.what
    }


def test_f1_judges_speed_by_all_thresholds():
    high = dict(zip(f1.SHARES, (FASTER, SLOWER, LATE), strict=True))
    reached = {"Unbiased": PLAIN} | {f"Biased-high {p}%": at for p, at in high.items()}
    reached |= {f"Biased-low {p}%": SLOWER for p in f1.SHARES}
    findings = registry.find("F1").analyse({"curves": made_up(reached)})
    assert speeds(findings) == {
        "Biased-high 60% − Unbiased": ("below 0", "holds"),
        "Biased-high 70% − Unbiased": ("below 0", "does not hold"),
        "Biased-high 80% − Unbiased": ("below 0", "undecided"),
        "Biased-high 60% − Biased-low 60%": ("below 0 (text)", "holds"),
        "Biased-high 70% − Biased-low 70%": ("below 0 (text)", "undecided"),
        "Biased-high 80% − Biased-low 80%": ("below 0 (text)", "undecided"),
        **{f"Biased-low {p}% − Unbiased (own check: above 0)": ("-", "holds") for p in f1.SHARES},
    }
    first = findings.claims[0]
    assert first.rule == "thresholds"
    for ours, expected in zip(first.ours.split("; "), (-3000, -5000, -8000), strict=True):
        assert float(ours.replace(",", "")) == pytest.approx(expected, abs=100)


def test_f2_judges_speed_by_all_thresholds():
    points = {"setting": np.array(list(f2.BY_NORM)), "x": np.zeros(2), "y": np.zeros(2)}
    shares = {
        "setting": np.array(list(f2.BY_NORM)),
        "data_set": np.zeros(2),
        "high_frequency": np.full(2, 65.0),
        "spikes": np.full(2, 20.0),
    }
    reached = {"Unbiased": PLAIN, "Biased-GradientNorm": LATE, "Biased-HessianNorm": FASTER}
    findings = registry.find("F2").analyse(
        {
            "curves": made_up(reached),
            "shares": Stored(shares, {}, {}),
            "points": Stored(points, {}, {}),
        }
    )
    assert speeds(findings) == {
        "Biased-GradientNorm − Unbiased": ("below 0", "undecided"),
        "Biased-HessianNorm − Unbiased": ("below 0", "holds"),
        "Biased-HessianNorm − Biased-GradientNorm": ("below 0", "holds"),
    }


def test_the_error_over_the_run_is_shown_by_its_length():
    """A curve that is above by 0.1 in the first quarter, and below by 0.1 from there on."""
    early = np.arange(len(UPDATES)) < len(UPDATES) // 4
    noise = np.random.default_rng(1).normal(0, 0.001, (SEEDS, 1))
    plain = np.full((SEEDS, len(UPDATES)), 0.5)
    errors = {
        "plain": plain,
        "a": plain + np.where(early, 0.1, -0.1) + noise,
        "b": plain + np.where(early, 0.2, -0.2) + noise,
    }
    header, row, _ = run_length.length_table(UPDATES, errors, ["a", "b"], "plain")
    ends = ["5,000", "10,000", "20,000", "30,000", "40,000"]
    assert header[1:] == [f"up to update {end}" for end in ends]
    means = [float(cell.split(" [")[0]) for cell in row[1:]]
    np.testing.assert_allclose(means, [0.1, 0.1, 0, -0.1 / 3, -0.05], atol=0.002)
    note = run_length.length_note(UPDATES, errors, ["a", "b"], "plain", "the more so for b")
    assert "Early in training the biased data are worse" in note
    assert "the more so for b" in note
    assert "depends on the length of the run" in note
    assert "a worse (5,000, 10,000), undecided (20,000), better (30,000, 40,000)" in note
    turned = run_length.length_note(UPDATES, errors, ["b", "a"], "plain", "the more so for a")
    assert "the more so" not in turned


def test_the_comparisons_by_length_are_corrected_for_their_number():
    """A difference of 2.3 standard errors is enough for one comparison, but not for five."""
    spread = np.linspace(-1, 1, SEEDS)
    error = spread.std(ddof=1) / np.sqrt(SEEDS)
    difference = spread - 2.3 * error
    assert claims.difference("", "", difference).verdict == "holds"
    plain = np.full((SEEDS, len(UPDATES)), 0.5)
    errors = {"plain": plain, "a": plain + difference[:, None]}
    found = run_length.over_run(UPDATES, errors, ["a"], "plain")["a"]
    assert [claim.verdict for claim in found] == ["undecided"] * len(run_length.PARTS)
    note = run_length.length_note(UPDATES, errors, ["a"], "plain")
    assert "a undecided (5,000, 10,000, 20,000, 30,000, 40,000)" in note


def test_no_turn_is_told_where_there_is_none():
    noise = np.random.default_rng(1).normal(0, 0.001, (SEEDS, 1))
    plain = np.full((SEEDS, len(UPDATES)), 0.5)
    errors = {"plain": plain, "better": plain - 0.1 + noise}
    note = run_length.length_note(UPDATES, errors, ["better"], "plain")
    assert "does not depend on the length" in note
    assert "worse" not in note


def test_from_where_on_a_curve_is_below():
    updates = np.array([20, 40, 60])
    assert ahead_from(updates, np.array([[2.0, 1, 1]]), np.array([[1.0, 2, 2]])) == "40"
    assert ahead_from(updates, np.ones((1, 3)), np.array([[2.0, 2, 1]])) == "never"
    assert ahead_from(updates, np.ones((1, 3)), np.full((1, 3), 2)) == "the first evaluation"
