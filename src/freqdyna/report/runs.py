"""A section for the user's runs and sweeps."""

from collections.abc import Sequence

import numpy as np

from freqdyna.report.charts import as_json
from freqdyna.report.section import Section, Table
from freqdyna.results.plot import curves_chart
from freqdyna.results.result import Result
from freqdyna.results.run_styles import record_labels
from freqdyna.results.statistics import interval_of_mean

LEFT_OUT = (
    "Seeds that diverged or stopped are left out of all numbers and curves. This favours a method "
    "that is unstable: read its mean together with the number of seeds."
)


def section(results: Sequence[Result], sources: Sequence[str]) -> Section:
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
