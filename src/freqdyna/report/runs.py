"""Sections about trainings: learning curves, comparisons, and the effect of varied settings."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.report.charts import Section, Table, as_json
from freqdyna.results.chart import Axis, Chart, LineStyle, Panel, SeedCurve
from freqdyna.results.comparison.compare_runs import compare_runs
from freqdyna.results.comparison.figure import differences_panel, profile_panel
from freqdyna.results.comparison.tables import LEGEND, average_rows, pair_rows, run_rows, title
from freqdyna.results.plot import curves_chart
from freqdyna.results.result import Result
from freqdyna.results.run_styles import record_labels, run_labels, run_styles
from freqdyna.results.statistics import bootstrap_interval, interval_of_mean

LEFT_OUT = (
    "Seeds that diverged or stopped are left out of all numbers and curves. This favours a method "
    "that is unstable: read its mean together with the number of seeds."
)
COMPARED = 10
"""Runs in an environment of which all pairs are compared; more would be a table of hundreds."""
NOT_VARIED = ("seeds", "first_seed", "steps", "eval_every", "eval_episodes", "devices")
"""Settings of the length and the evaluation of a run, which do not affect how an agent learns."""
WIDE = 10
"""The axis is logarithmic if its maximum is at least this many times its minimum."""
_LIMIT = "episode_limit"
TICKS = 12
"""If there are at most this many values, each has a tick."""

Line = dict[float, Result]
"""Results by the value of the setting."""


def curves_section(results: Sequence[Result], sources: Sequence[str]) -> Section:
    """Learning curves, one panel for each environment, and a table.

    Args:
        results: The runs.
        sources: Where each run is stored.

    """
    labels = record_labels(results)
    return Section(
        name="runs",
        title="Learning curves",
        chart=as_json(curves_chart(results)),
        tables=[_table(results, labels)],
        notes=[
            "The return after the warm-up is the mean over the evaluations of a seed after step "
            "warmup_steps; brackets show the 95% bootstrap interval of the mean over seeds.",
            *([LEFT_OUT] if any(r.complete_seeds.left_out for r in results) else []),
        ],
        origins=_origins(labels, sources, results),
    )


def metric_sections(results: Sequence[Result]) -> list[Section]:
    """Curves of the metrics that callbacks returned, a section for each."""
    names = dict.fromkeys(name for result in results for name in result.custom_metrics)
    return [
        Section(
            name=f"metric-{name}",
            title=f"Your metric {name}",
            chart=as_json(curves_chart([r for r in results if name in r.custom_metrics], name)),
        )
        for name in names
    ]


def _table(results: Sequence[Result], labels: Sequence[str]) -> Table:
    measures = ("return after the warm-up", "return at the end")
    rows = [["environment", "algorithm", "seeds", "steps", *measures]]
    for result, label in zip(results, labels, strict=True):
        complete = result.complete_seeds
        kept, evaluated = complete.kept, result.after_warmup.any()
        missing = "-" if kept.any() else complete.none_left
        rows.append(
            [
                result.env_name,
                label,
                complete.text(),
                f"{result.steps[-1]:,}",
                _mean(result.mean_return()[kept]) if kept.any() and evaluated else missing,
                _mean(result.returns[kept, -1]) if kept.any() else missing,
            ]
        )
    return rows


def _mean(values: np.ndarray) -> str:
    mean, interval = f"{values.mean():.1f}", interval_of_mean(values)
    return mean if interval is None else f"{mean} [{interval[0]:.1f}, {interval[1]:.1f}]"


def _origins(labels: Sequence[str], sources: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Where the runs come from, with one line for all runs of the same origin."""
    alike: dict[str, list[str]] = {}
    for label, source, result in zip(labels, sources, results, strict=True):
        alike.setdefault(f"`{source}`, {_facts(result)}.", []).append(label)
    return [
        f"{own[0] if len(own) == 1 else f'{len(own)} trainings'}: {fact}"
        for fact, own in alike.items()
    ]


def _facts(result: Result) -> str:
    facts = result.provenance
    if not facts:
        return "without provenance"
    if result.imported_from is not None:
        return f"imported from {result.imported_from} on {str(facts.get('date'))[:10]}"
    where = f"{facts.get('machine')} ({facts.get('devices')} × {facts.get('device_kind')})"
    date = str(facts.get("date"))[:10]
    return f"{where}, {date}, commit {facts.get('commit')}, `{facts.get('command')}`"


def comparison_section(results: Sequence[Result], sources: Sequence[str]) -> Section | None:
    """Statistics of the runs in each environment; None if no environment has two runs.

    Args:
        results: The runs.
        sources: Where each run is stored.

    """
    labels = record_labels(results, sources)
    numbers = Counter(result.env_name for result in results)
    many = [
        f"{env}: {number} runs are too many for a table of all pairs; freqdyna compare --baseline "
        "compares one of them with all others."
        for env, number in numbers.items()
        if number > COMPARED
    ]
    chosen = [i for i, result in enumerate(results) if 1 < numbers[result.env_name] <= COMPARED]
    if not chosen:
        return Section("comparison", "Comparison", notes=many) if many else None
    try:
        comparison = compare_runs([results[i] for i in chosen], [labels[i] for i in chosen])
    except FreqdynaError as error:  # such as runs without common steps
        return Section("comparison", "Comparison", notes=[f"Not compared: {error}.", *many])
    panels = [
        panel
        for environment in comparison.environments
        for panel in (profile_panel(environment), differences_panel(environment))
    ]
    tables = [
        [["environment", *header], *([environment.env, *row] for row in body)]
        for environment in comparison.environments
        for header, *body in (run_rows(environment), pair_rows(environment))
    ]
    if comparison.averages:
        tables.append(average_rows(comparison.averages))
    return Section(
        name="comparison",
        title="Comparison",
        command=shlex.join(["freqdyna", "compare", *dict.fromkeys(sources)]),
        chart=as_json(Chart(panels)),
        tables=tables,
        notes=[*map(title, comparison.environments), *comparison.notes, *many, LEGEND],
    )


def sensitivity_section(results: Sequence[Result]) -> Section | None:
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
