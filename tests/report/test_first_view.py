"""What the explorer shows first, on constructed learning curves."""

import re
from pathlib import Path

import numpy as np
import pytest

import freqdyna
from freqdyna import envs
from freqdyna.report import explorer
from freqdyna.report.explorer import first_step, typical_rows

ROOT = Path(__file__).parents[2]
EVALUATED = np.arange(100, 1100, 100)
LOW, HIGH = -2000.0, -100.0
AGENTS = ("Dyna-Value", "Dyna-Frequency", "Dyna-Uniform", "Dyna-TD-Error")


def curves(*learned_after):
    """Seeds that have learned at all evaluations after a step."""
    return EVALUATED, np.where(np.array(learned_after)[:, None] < EVALUATED, HIGH, LOW)


def test_the_median_seed_comes_first_and_then_the_quartiles():
    five = curves(300, 100, 500, 200, 400)[1]  # the best is row 1, then 3, 0, 4 and 2
    assert typical_rows(five, 3) == [0, 3, 4]
    assert typical_rows(five, 9) == [0, 3, 4, 1, 2]
    four = curves(100, 400, 200, 300)[1]  # the best is row 0, then 2, 3 and 1
    assert typical_rows(four, 1) == [2]


@pytest.mark.parametrize(
    ("after", "rows"), [((100,), [0]), ((200, 100), [1, 0]), ((100, 300, 200), [2, 0, 1])]
)
def test_few_seeds_are_all_shown(after, rows):
    assert typical_rows(curves(*after)[1], 3) == rows


def test_seeds_with_the_same_return_keep_their_order():
    assert typical_rows(curves(1000, 1000, 1000)[1], 3) == [1, 0, 2]


def test_it_opens_when_half_of_the_seeds_of_every_run_have_learned():
    fast, slow = curves(100, 200, 900, 900), curves(300, 500, 500, 900)
    steps = list(range(100, 1100, 100))
    assert first_step([fast], steps) == 300
    assert first_step([slow], steps) == 600
    assert first_step([fast, slow], steps) == 600
    assert first_step([fast, slow], [450, 650, 850]) == 650
    assert first_step([curves(300, 500, 900)], steps) == 600  # two of three, one is not half
    assert first_step([curves(1000, 1000), fast], steps) is None
    assert first_step([fast], [50]) is None  # before the first evaluation


def test_the_latest_return_decides():
    evaluated, returns = curves(100, 100)
    returns[:, 4:7] = LOW  # forgotten from step 500 to 700
    assert first_step([(evaluated, returns)], [100, 500, 600, 700, 800]) == 800


def test_learned_is_above_the_middle_of_all_returns():
    returns = np.array([[-2000.0, -1050.0, -1049.0, -100.0]])
    steps = np.array([1, 2, 3, 4])
    assert first_step([(steps, returns)], [1, 2, 3, 4]) == 3
    assert first_step([(steps, returns * 0)], [1, 2, 3, 4]) is None  # nothing was learned


@pytest.mark.parametrize("name", ["mountain-car", "maze"])
def test_stored_agents_are_shown_when_they_have_learned(name):
    folder = ROOT / "results" / "explorer"
    results = [freqdyna.load(folder / f"{name}-{agent.lower()}") for agent in AGENTS]
    (shown,) = explorer.explorers(results)
    assert shown["rule"]
    for run in shown["runs"]:
        latest = np.searchsorted(run["evaluations"], shown["opens"], side="right") - 1
        assert run["returns"][0][latest] > -1050
    text = (ROOT / "docs" / "report.md").read_text()
    landmarks = envs.make(results[0].config.env).landmarks
    for result, told in zip(results, _told(text, name, shown["opens"]), strict=True):
        seeds = range(len(result.seeds))
        frames = [explorer.frame(result.snapshots[shown["opens"]], i, landmarks) for i in seeds]
        found = [frame["percentiles"]["queue"] for frame in frames]
        expected = found if name == "maze" else [np.mean(found), min(found), max(found)]
        assert told == pytest.approx(expected, abs=0.0051)


def _told(text, name, step):
    """The percentiles that the page gives for each agent."""
    number = r"(0\.\d\d)"
    of = {
        "mountain-car": rf"{number} \({number} to {number}",
        "maze": rf"{number} and {number}",
    }[name]
    first, *others = AGENTS
    pattern = rf"after {step:,} steps,? the queue of {first} is at {of}"
    pattern += "".join(rf".*?that of {agent} at {of}" for agent in others)
    found = [float(one) for one in re.search(pattern, " ".join(text.split())).groups()]
    return np.reshape(found, (len(AGENTS), -1)).tolist()
