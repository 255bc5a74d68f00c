"""Sections about trainings: learning curves, settings, trials, comparisons and sensitivity."""

import math
import shlex
from collections.abc import Sequence

import numpy as np

from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.envs.names import env_label
from freqdyna.report.charts import Section, Table, as_json
from freqdyna.results.chart import (
    Axis,
    Chart,
    LineStyle,
    Panel,
    SeedCurve,
    differing,
    record_labels,
    run_labels,
    run_styles,
    setting_name,
    setting_text,
)
from freqdyna.results.compare import RunComparison, compare_runs
from freqdyna.results.maps import searched_rows, surfaces_chart, trust_chart
from freqdyna.results.plot import curves_chart, differences_panel, profile_panel
from freqdyna.results.result import Result
from freqdyna.results.tables import (
    LEGEND,
    NO_NUMBER,
    decimals,
    number,
    pair_rows,
    return_rows,
    run_rows,
    title,
)

LEFT_OUT = (
    "Seeds that diverged or stopped are left out of all numbers and curves. This favours a method "
    "that is unstable: read its mean together with the number of seeds."
)
NOT_VARIED = ("seeds", "first_seed", "steps", "eval_every", "eval_episodes", "devices")
"""Settings of the length and the evaluation of a run, which do not affect how an agent learns."""
NOT_LISTED = ("devices", "snapshot_steps")
"""Settings that change nothing that is learned or evaluated."""
BEST = 20
"""The maximum number of trials of a search in its table."""
WIDE = 10
"""The axis is logarithmic if its maximum is at least this many times its minimum."""
TICKS = 12
"""If there are at most this many values, each has a tick."""

Line = dict[float, Result]
"""Results by the value of the setting."""
Trial = tuple[int, float | None]
"""The number of a trial in its search, and the objective; None if no seed is left."""


def curves_section(results: Sequence[Result], sources: Sequence[str]) -> Section:
    """Learning curves, one panel for each environment, and a table of returns."""
    labels = record_labels(results)
    return Section(
        name="runs",
        title="Learning curves",
        chart=as_json(curves_chart(results)),
        tables={"Return of each run": return_rows(results, labels)},
        notes=[
            "The return after the warm-up is the mean over the evaluations of a seed after step "
            "warmup_steps; brackets show the 95% bootstrap interval of the mean over seeds.",
            *([LEFT_OUT] if any(r.complete_seeds.left_out for r in results) else []),
        ],
        origins=_origins(labels, sources, results),
    )


def trust_section(results: Sequence[Result]) -> Section | None:
    """How much planned transitions counted near and far from the data; None without snapshots."""
    planned, mapped = [], []
    for result in results:
        last = result.snapshots[max(result.snapshots)] if result.snapshots else {}
        if "queue_trust" in last and len(searched_rows(result, last)):
            planned.append(result)
            mapped += [result] if np.isfinite(last.get("trust", [np.nan])[0]).all() else []
    if not planned:
        return None
    maps = surfaces_chart(mapped, "trust").panels if mapped else []
    return Section(
        name="trust",
        title="Where the model is trusted",
        chart=as_json(Chart([*trust_chart(planned).panels, *maps])),
        notes=[
            "The weight of transitions that are planned from states of the queue: 1 counts like a "
            "stored one, 0 not at all. The distance is that to the nearest visited state, in "
            "standard deviations of each coordinate. Maps show the first seed.",
        ],
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


def settings_section(results: Sequence[Result]) -> Section | None:
    """The settings in which runs differ; None if they do not. Imported curves have none."""
    trained = [result for result in results if result.imported_from is None]
    names, rows = _differing(trained)
    if not names:
        return None
    labels = record_labels(trained)
    table = [["run", *names], *([label, *row] for label, row in zip(labels, rows, strict=True))]
    if len(names) > len(rows):
        table = [list(column) for column in zip(*table, strict=True)]
    heading = "Settings that differ between the runs"
    return Section("settings", "Settings", tables={heading: table})


def trials_section(
    results: Sequence[Result], sources: Sequence[str], trials: Sequence[Trial | None]
) -> Section | None:
    """The best trials of each hyper-parameter search, the best first; None without trials."""
    searches: dict[str, list[tuple[int, float, Result]]] = {}
    for result, source, trial in zip(results, sources, trials, strict=True):
        if trial is not None:
            value = -math.inf if trial[1] is None else trial[1]
            searches.setdefault(source, []).append((trial[0], value, result))
    tables: dict[str, Table] = {}
    for source, search in searches.items():
        search = sorted(search, key=lambda trial: -trial[1])
        names, settings = _differing([result for *_, result in search])
        digits = decimals([value for _, value, _ in search])
        rows = [["trial", "objective", "seeds", *names]]
        for (place, value, result), cells in zip(search[:BEST], settings, strict=False):
            text = number(value, digits) if math.isfinite(value) else NO_NUMBER
            rows.append([str(place), text, result.complete_seeds.text(), *cells])
        tables[f"The best of {counted(len(search), 'trial')} of {source}"] = rows
    if not tables:
        return None
    note = (
        "The objective is the mean over the seeds of a trial. The best of many trials was chosen "
        "because it is high, so it is lower when it is trained again with other seeds."
    )
    return Section("trials", "Best trials", tables=tables, notes=[note])


def _differing(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """The names of the settings in which runs differ, and the values of each run as texts."""
    settings = [result.config.flat() for result in results]
    names = [name for name in differing(settings) if name not in NOT_LISTED]
    texts = [
        [NO_NUMBER if of_run.get(n) is None else setting_text(of_run[n]) for n in names]
        for of_run in settings
    ]
    return names, texts


def _origins(labels: Sequence[str], sources: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Where the runs come from, with one line for all runs of the same origin."""
    alike: dict[str, list[str]] = {}
    for label, source, result in zip(labels, sources, results, strict=True):
        alike.setdefault(f"`{source}`, {_facts(result)}.", []).append(label)
    return [
        f"{names[0] if len(names) == 1 else f'{len(names)} trainings'}: {fact}"
        for fact, names in alike.items()
    ]


def _facts(result: Result) -> str:
    facts = result.provenance
    if result.imported_from is not None:
        return f"imported from {result.imported_from} on {str(facts.get('date'))[:10]}"
    where = f"{facts.get('machine')} ({facts.get('devices')} × {facts.get('device_kind')})"
    date = str(facts.get("date"))[:10]
    return f"{where}, {date}, commit {facts.get('commit')}, `{facts.get('command')}`"


def comparison_of(
    results: Sequence[Result], sources: Sequence[str], baseline: str | None = None
) -> RunComparison | str | None:
    """Statistics of the runs, or why there are none; None if no environment has two runs."""
    if len({result.env_name for result in results}) == len(results):
        return None
    try:
        return compare_runs(results, record_labels(results, sources), baseline=baseline)
    except FreqdynaError as error:  # such as runs without common steps
        if baseline is not None:
            raise
        return f"Not compared: {error}."


def comparison_section(
    comparison: RunComparison | str | None, sources: Sequence[str], baseline: str | None = None
) -> Section | None:
    """The comparison of all runs in each environment; None without one."""
    if comparison is None:
        return None
    if isinstance(comparison, str):
        return Section("comparison", "Comparison", notes=[comparison])
    tables: dict[str, Table] = {}
    panels = []
    for environment in comparison.environments:
        panels += [profile_panel(environment), differences_panel(environment)]
        tables[f"Runs on {environment.env}"] = run_rows(environment)
        tables[f"Pairs of runs on {environment.env}"] = pair_rows(environment)
    command = ["freqdyna", "compare", *dict.fromkeys(sources)]
    return Section(
        name="comparison",
        title="Comparison",
        command=shlex.join([*command, "--baseline", baseline] if baseline else command),
        chart=as_json(Chart(panels)),
        tables=tables,
        notes=[*map(title, comparison.environments), *comparison.notes, LEGEND],
    )


def sensitivity_section(results: Sequence[Result]) -> Section | None:
    """The return against each setting with at least two values; None if there is none."""
    results = [result for result in results if result.imported_from is None]  # no known settings
    lines_of = {name: _lines(results, name) for name in _numeric(results)}
    panels = [
        _panel(name, env, of_env)
        for name, lines in lines_of.items()
        for env in dict.fromkeys(env for env, _ in lines)
        if (of_env := {label: line for (e, label), line in lines.items() if e == env})
    ]
    if not panels:
        return None
    without = [
        f"Left out: {label}, {result.complete_seeds.text('seeds')}."
        for label, result in zip(record_labels(results), results, strict=True)
        if not result.complete_seeds.kept.any()
    ]
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
    """The settings with several values, all of which are numbers."""
    names = []
    for name in results[0].config.flat():
        values = {result.config.get(name) for result in results}
        if name not in NOT_VARIED and len(values) > 1 and {type(v) for v in values} <= {int, float}:
            names.append(name)
    return names


def _lines(results: Sequence[Result], name: str) -> dict[tuple[str, str], tuple[Line, LineStyle]]:
    """Each line and its style, by environment and label of the other settings."""
    value = results[0].config.get(name)
    others = [result.config.changed({name: value}) for result in results]
    lines: dict[tuple[str, str], tuple[Line, LineStyle]] = {}
    labels = run_labels(others)
    named = zip(results, others, labels, run_styles(others, labels), strict=True)
    for result, other, label, style in named:
        line, _ = lines.setdefault((env_label(other), label), ({}, style))
        if result.complete_seeds.kept.any():
            line.setdefault(result.config.get(name), result)
    return {key: one for key, one in lines.items() if len(one[0]) > 1 and _seeds(one[0])}


def _seeds(line: Line) -> list[int]:
    """The seeds that are complete in all results of a line."""
    kept = (set(result.seeds[result.complete_seeds.kept].tolist()) for result in line.values())
    return sorted(set.intersection(*kept))


def _panel(name: str, env: str, lines: dict[str, tuple[Line, LineStyle]]) -> Panel:
    """The return against the setting `name` in one environment."""
    marks = []
    for label, (line, style) in lines.items():
        seeds, at = np.array(_seeds(line)), sorted(line)
        shared = set.intersection(*(set(result.seeds.tolist()) for result in line.values()))
        label = f"{label} ({len(seeds)} of {counted(len(shared), 'seed')})"
        values = np.stack([line[x].mean_return()[np.isin(line[x].seeds, seeds)] for x in at], 1)
        curve = SeedCurve(np.array(at), values, style, seeds=seeds, label=label, marker="circle")
        marks.append(curve)
    every = sorted({x for line, _ in lines.values() for x in line})
    words = setting_name(name)
    log = every[0] > 0 and every[-1] >= WIDE * every[0]
    ticks = [(x, setting_text(x)) for x in every] if len(every) <= TICKS else ()
    x, y = Axis(words, log=log, ticks=ticks), Axis("return after the warm-up")
    return Panel(title=f"{env}: {words}", x=x, y=y, marks=marks)
