"""The tables of search-controls in docs/performance.md have the numbers that are stored."""

import json
from pathlib import Path

from freqdyna.experiments import registry, reproduce
from freqdyna.experiments.parts.controls import step_times

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()
BENCH = json.loads((ROOT / "results" / "bench-2-cores-intel.json").read_text())


def section(name="Search-controls with and without a climb"):
    return PAGE.split(f"### {name}\n")[1].split("\n### ")[0]


def rate(workload, seeds, column="steps_per_second"):
    (found,) = (
        one[column]
        for one in BENCH["rates"]
        if (one["workload"], one["implementation"], one["seeds"]) == (workload, "freqdyna", seeds)
    )
    return found


def test_the_rows_are_those_of_the_measurement():
    rows = [line for line in section().splitlines() if line.startswith("|")][2:]
    assert len(rows) == 8
    for row in rows:
        workload, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        parts = (BENCH["shares"][workload].get(part) for part in ("search", "updates"))
        numbers = rate(workload, 1), rate(workload, 30), *parts
        assert cells == ["" if number is None else f"{number:,.0f}" for number in numbers]


def test_the_text_has_the_iterations_and_the_spread_of_the_measurement():
    text = " ".join(section().split())
    short, long = (
        rate(f"Dyna-Frequency, {where}", 30, "climb_iterations") for where in ("d = 10", "maze")
    )
    assert f"takes {short:.0f} iterations on average" in text
    assert f"where it takes {long:.0f}," in text
    ours = [one for one in BENCH["rates"] if one["implementation"] == "freqdyna"]
    spread = max(one["fastest"] / one["slowest"] for one in ours)
    assert f"differed by up to {spread - 1:.0%}" in text


def test_the_times_on_a_gpu_are_the_stored_ones():
    stored = reproduce.stored(registry.find("C"), ROOT / "results" / "reproduce")
    times = step_times.stored_times(stored)["gpu"]
    text = section("Search-controls on one H200")
    header, _, *rows = (line for line in text.splitlines() if line.startswith("|"))
    domains = [cell.strip() for cell in header.strip("|").split("|")][1:]
    shown = 0
    for row in rows:
        control, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        own = [times.get((domain, control)) for domain in domains]
        words = [
            "not measured" if one is None else f"{one * step_times.SEEDS / 1000:.2f}" for one in own
        ]
        assert cells == words
        shown += len(own) - own.count(None)
    assert shown == len(times)
    for domain, words in (
        ("MountainCar-v0", "{:.1f} times as fast as climbing g on MountainCar"),
        ("MazeGridWorld", "{:.1f} times in the maze"),
        ("CartPole-v1", "{:.0f} times on CartPole"),
    ):
        ratio = times[domain, "frequency"] / times[domain, "td-error"]
        assert words.format(ratio) in " ".join(text.split())
