"""The tables of search-controls in docs/performance.md have the numbers that are stored."""

import json
from pathlib import Path

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
