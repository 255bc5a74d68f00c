"""How the return depends on the numeric settings that a user's runs vary."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import counted
from freqdyna.report.charts import as_json
from freqdyna.report.section import Section
from freqdyna.results.chart import Axis, Chart, LineStyle, Panel, SeedCurve
from freqdyna.results.result import Result
from freqdyna.results.run_styles import run_labels, run_styles
from freqdyna.results.statistics import bootstrap_interval

NOT_VARIED = ("seeds", "first_seed", "steps", "eval_every", "eval_episodes", "devices")
"""Settings of the length and the evaluation of a run, which do not affect how an agent learns."""
WIDE = 10
"""The axis is logarithmic if its maximum is at least this many times its minimum."""
_LIMIT = "episode_limit"
TICKS = 12
"""If there are at most this many values, each has a tick."""

Line = dict[float, Result]
"""Results by the value of the setting."""


def section(results: Sequence[Result]) -> Section | None:
    """The return against each setting with at least two values; None if there is none."""
    results = [result for result in results if result.imported_from is None]  # no known settings
    found = {name: _lines(results, name) for name in _numeric(results)}
    panels = [
        _panel(name, env, of_env)
        for name, lines in found.items()
        for env in dict.fromkeys(env for env, _ in lines)
        if (of_env := {label: line for (e, label), line in lines.items() if e == env})
    ]
    if not panels:
        return None
    without = sorted({text for name in found for text in _points_without_seeds(results, name)})
    return Section(
        name="sensitivity",
        title="How the return depends on what was varied",
        chart=as_json(Chart(panels)),
        notes=[
            "A point is the return after the warm-up, averaged over the seeds that all points of "
            "its line have in common; the interval is a bootstrap interval over these seeds.",
            "A line connects runs with the same values of all other settings.",
            *without,
        ],
    )


def _numeric(results: Sequence[Result]) -> list[str]:
    def is_number(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    return [
        name
        for name in Config.__dataclass_fields__
        if name not in NOT_VARIED
        and all(is_number(getattr(result.config, name)) for result in results)
        and len({getattr(result.config, name) for result in results}) > 1
    ]


def _lines(results: Sequence[Result], name: str) -> dict[tuple[str, str], tuple[Line, LineStyle]]:
    """Each line and its style, by environment and label of the other settings."""
    value = getattr(results[0].config, name)
    others = [replace(result.config, **{name: value}) for result in results]
    found: dict[tuple[str, str], tuple[Line, LineStyle]] = {}
    for result, label, style in zip(results, run_labels(others), run_styles(others), strict=True):
        # Episode limits that vary are on the axis.
        config = replace(result.config, episode_limit=None) if name == _LIMIT else result.config
        line, _ = found.setdefault((config.env_name, label), ({}, style))
        if result.complete_seeds.kept.any():
            line.setdefault(getattr(result.config, name), result)
    return {key: one for key, one in found.items() if len(one[0]) > 1 and _seeds(one[0])}


def _points_without_seeds(results: Sequence[Result], name: str) -> list[str]:
    """A sentence for each run that is not shown because it has no complete seed."""
    return [
        f"Not shown: {name.replace('_', ' ')} {getattr(result.config, name):g} of "
        f"{result.config.agent_name} on {result.env_name}: {complete.none_left}."
        for result in results
        if not (complete := result.complete_seeds).kept.any()
    ]


def _seeds(line: Line) -> list[int]:
    """The seeds that are complete in all results of a line."""
    kept = (set(result.seeds[result.complete_seeds.kept].tolist()) for result in line.values())
    return sorted(set.intersection(*kept))


def _seeds_text(line: Line, seeds: list[int]) -> str:
    """The number of seeds of a line, and of those left out because they are not complete."""
    shared = set.intersection(*(set(result.seeds.tolist()) for result in line.values()))
    text = counted(len(seeds), "seed")
    if len(seeds) == len(shared):
        return text
    reasons = dict.fromkeys(why for r in line.values() for why in r.complete_seeds.left_out)
    return f"{len(seeds)} of {len(shared)} seeds; the others {' or '.join(reasons)}"


def _panel(name: str, env: str, lines: dict[str, tuple[Line, LineStyle]]) -> Panel:
    """The return against the setting `name` in one environment."""
    marks = []
    for label, (line, style) in lines.items():
        seeds, at = _seeds(line), sorted(line)
        values = np.stack(
            [line[x].mean_return()[np.isin(line[x].seeds, seeds)] for x in at], axis=1
        )
        text = f"{label} ({_seeds_text(line, seeds)})"
        numbers = np.array(seeds)
        interval = bootstrap_interval(values) if len(seeds) > 1 else None  # for the axis
        marks.append(
            SeedCurve(
                np.array(at),
                values,
                style,
                interval,
                seeds=numbers,
                marker="circle",
                label=text,
            )
        )
    every = sorted({x for line, _ in lines.values() for x in line})
    words = name.replace("_", " ")
    return Panel(
        title=f"{env}: {words}",
        x=Axis(
            words,
            log=every[0] > 0 and every[-1] >= WIDE * every[0],
            ticks=[(x, f"{x:g}") for x in every] if len(every) <= TICKS else (),
        ),
        y=Axis("return after the warm-up"),
        marks=marks,
    )
