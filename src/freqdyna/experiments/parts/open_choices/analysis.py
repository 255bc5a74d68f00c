"""What S shows: the difference of the two Dyna algorithms, and the queue's shares, by reading."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from freqdyna.experiments import drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.claims import Claim, Verdict
from freqdyna.experiments.comparisons import Comparison, interval, judge, judge_spread
from freqdyna.experiments.parts.f5.analysis import PAPER, near_holes
from freqdyna.experiments.parts.open_choices.units import ALGORITHMS, READINGS, by_reading
from freqdyna.experiments.trainings import area, states

Found = dict[tuple[str, str, str], Stored]
NAMES = {"dyna-frequency": "Dyna-Frequency", "dyna-value": "Dyna-Value"}


def analyse(units: dict[str, Stored]) -> Findings:
    """A row for each reading: the difference in area on both environments, shares in the maze."""
    found = by_reading(units)
    environments = list(dict.fromkeys(env for _, env, _ in found))
    maze = "MazeGridWorld" in environments
    figure = drawing.panels(1, len(environments) + maze, width=4.6, height=5.0)
    panels = figure.subplots(1, len(environments) + maze, sharey=True, squeeze=False)[0]
    readings = [r for r in READINGS if any(key[0] == r for key in found)]
    comparisons, rows = [], [["reading", "environment", "area, frequency", "area, value"]]
    for panel, env in zip(panels, environments, strict=False):
        for place, reading in enumerate(readings):
            if (reading, env, ALGORITHMS[0]) not in found:
                continue
            pair = [area(found[reading, env, algorithm]) for algorithm in ALGORITHMS]
            _dot(panel, place, lambda a, b: a.mean(-1) - b.mean(-1), *pair)
            rows.append([reading, env, *(_mean(values) for values in pair)])
            comparisons.append(
                Comparison(f"{reading}, {env}: Dyna-Frequency − Dyna-Value, area", "above 0", *pair)
            )
        panel.axvline(0, color="gray", linewidth=0.8)
        drawing.finish(panel, env, "Dyna-Frequency − Dyna-Value, mean return", "")
    claims = judge(comparisons)
    if maze:
        claims += _spreads(found, readings) + _contrasts(found, readings)
        rows[0] += ["near a hole, frequency", "near a hole, value"]
        shares = _shares(found, readings)
        for row in rows[1:]:
            maze_row = row[1] == "MazeGridWorld"
            row += [_percent(shares[row[0]][a]) if maze_row else "" for a in ALGORITHMS]
        _draw_shares(panels[-1], shares, readings)
        claims.append(_some_reading_gives_f5(shares))
    panels[0].set_yticks(range(len(readings)), readings)
    panels[0].invert_yaxis()
    figure.suptitle("S: one reading of the paper changed at a time, 95% intervals over seeds")
    return Findings(figure, claims, rows, (_seeds(found),))


def _seeds(found: Found) -> str:
    """How many seeds each training has, where they are not all alike."""
    numbers = {key: len(area(stored)) for key, stored in found.items()}
    most = max(numbers.values())
    fewer = sorted({f"{r}, {env}: {n}" for (r, env, _), n in numbers.items() if n < most})
    return "; ".join([f"Seeds of each training: {most}", *fewer]) + "."


def _spreads(found: Found, readings: list[str]) -> list[Claim]:
    """F4's claim under each reading."""
    return judge_spread(
        [
            Comparison(
                f"{reading}, MazeGridWorld: deviation of the area, Dyna-Frequency by Dyna-Value",
                "below 1",
                *(area(found[reading, "MazeGridWorld", algorithm]) for algorithm in ALGORITHMS),
            )
            for reading in readings
            if (reading, "MazeGridWorld", ALGORITHMS[0]) in found
        ]
    )


def _contrasts(found: Found, readings: list[str]) -> list[Claim]:
    """F5's contrast under each reading."""
    return judge(
        [
            Comparison(
                f"{reading}: share near a hole, Dyna-Frequency − Dyna-Value, points",
                "above 0",
                *of_reading.values(),
            )
            for reading, of_reading in _shares(found, readings).items()
        ]
    )


def _shares(found: Found, readings: list[str]) -> dict[str, dict[str, np.ndarray]]:
    return {
        reading: {
            algorithm: near_holes(states(found[reading, "MazeGridWorld", algorithm], "queue"))
            for algorithm in ALGORITHMS
        }
        for reading in readings
        if (reading, "MazeGridWorld", ALGORITHMS[0]) in found
    }


def _draw_shares(
    panel: Axes, shares: dict[str, dict[str, np.ndarray]], readings: list[str]
) -> None:
    for algorithm, shift in zip(ALGORITHMS, (-0.12, 0.12), strict=True):
        color = drawing.COLORS[NAMES[algorithm]]
        for reading, of_reading in shares.items():
            place = readings.index(reading) + shift
            shares_of = of_reading[algorithm]
            label = drawing.PART_OF + NAMES[algorithm]
            _dot(panel, place, lambda v: v.mean(-1), shares_of, color=color, label=label)
        label = f"{NAMES[algorithm]}, the paper's"
        panel.axvline(PAPER[NAMES[algorithm]], color=color, linestyle=":", label=label)
    panel.legend(loc="center right", fontsize="small", framealpha=1.0)
    drawing.finish(panel, "MazeGridWorld, queue", "states near a hole, %", "")


def _some_reading_gives_f5(shares: dict[str, dict[str, np.ndarray]]) -> Claim:
    """Whether both of the paper's shares are among those of single seeds, in some reading."""
    fits = []
    for reading, of_reading in shares.items():
        inside = []
        for algorithm in ALGORITHMS:
            low, high = np.quantile(of_reading[algorithm], [0.025, 0.975])
            inside.append(bool(low <= PAPER[NAMES[algorithm]] <= high))
        if all(inside):
            fits.append(reading)
    verdict: Verdict = "holds" if fits else "does not hold"
    what = "some reading gives both of F5's shares"
    return Claim(what, "25.3% and 11.7%", ", ".join(fits) or "none", "", verdict, "sampling")


def _dot(
    panel: Axes,
    place: float,
    statistic: Callable[..., np.ndarray],
    *groups: np.ndarray,
    **style: Any,
) -> None:
    low, high = interval(statistic, *groups)
    middle = float(statistic(*groups))
    style = {"color": "black", **style}
    panel.plot([low, high], [place, place], linewidth=1.5, **style)
    panel.plot([middle], [place], "o", markersize=4, **style)


def _mean(values: np.ndarray) -> str:
    low, high = interval(lambda v: v.mean(-1), values)
    return f"{values.mean():.0f} [{low:.0f}, {high:.0f}]"


def _percent(values: np.ndarray) -> str:
    low, high = interval(lambda v: v.mean(-1), values)
    return f"{values.mean():.1f}% [{low:.1f}, {high:.1f}]"
