"""The page about the preset "tuned" shows its settings, and what the stored runs say."""

import re
from dataclasses import asdict
from pathlib import Path

import gymnasium
import pytest
from same_page import value_and_unit

from freqdyna import Config
from freqdyna.config.tuned import TUNED
from freqdyna.results.statistics import bootstrap_interval
from reproduction.store import runs

ROOT = Path(__file__).parents[2]
STORED = ROOT / "results" / "presets.parquet"
PAGE = (ROOT / "docs" / "presets.md").read_text()
NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?")
CUSTOMARY = {"Pendulum-v1": -200.0}
"""Thresholds of environments for which Gymnasium has none."""


def table(heading):
    """The first table below a heading: each row as a dictionary by column."""
    lines = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def test_the_table_of_settings_is_the_preset():
    written = {env: {} for env in TUNED}
    for row in table("The settings"):
        for env in TUNED:
            if row[env] != "–":
                written[env][row["setting"].strip("`")] = row[env]

    def text(value):
        return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    assert written == {
        env: {name: text(value) for name, value in settings.items()}
        for env, settings in TUNED.items()
    }


@pytest.mark.parametrize("env", TUNED)
def test_the_stored_run_is_that_of_the_preset(env):
    run = runs(STORED)[env]
    assert run.seeds.tolist() == list(range(10))
    asked = asdict(Config.of({"env": env}, "tuned"))
    assert {name: getattr(run.config, name) for name in asked if asked[name] is not None} == {
        name: value for name, value in asked.items() if value is not None
    }
    command = f"freqdyna train --preset tuned --env {env} --out results/presets/{env}"
    assert (run.provenance["command"], run.provenance["preset"]) == (command, "tuned")
    assert re.fullmatch("[0-9a-f]{40}", run.provenance["commit"])


@pytest.mark.parametrize("env", TUNED)
def test_the_table_of_results_is_that_of_the_stored_run(env):
    (row,) = (row for row in table("What ten seeds reached") if row["environment"] == f"`{env}`")
    run = runs(STORED)[env]
    last = run.returns[:, -1]
    threshold = CUSTOMARY.get(env) or gymnasium.spec(env).reward_threshold
    reached = last >= threshold
    _same(row["mean at the end [95% interval]"], [last.mean(), *bootstrap_interval(last)])
    _same(row["threshold"], [threshold])
    _same(row["seeds that reach it"], [reached.sum(), len(last)])
    assert row["algorithm"] == f"`{run.config.algorithm}`"
    _same(row["steps"], [run.config.steps])
    assert row["solves"] == ("yes" if last.mean() >= threshold else "no")
    assert row["commit"] == run.provenance["commit"][:7]


def _same(text, values):
    """Compare printed numbers with computed ones, within one unit of their last digit."""
    printed = [value_and_unit(number) for number in NUMBER.findall(text)]
    assert len(printed) == len(values)
    for (number, unit), value in zip(printed, values, strict=True):
        assert abs(float(number) - float(value)) <= float(unit)
