"""A section from runs and sweeps of the user's own."""

from collections.abc import Sequence

import numpy as np

from freqdyna.report.charts import chart
from freqdyna.report.section import Section, Table
from freqdyna.results.plot import plot_curves, run_labels
from freqdyna.results.result import Result
from freqdyna.results.statistics import bootstrap_interval, how_many, whole


def section(results: Sequence[Result], sources: Sequence[str]) -> Section:
    """Learning curves of all, one panel an environment, and a table."""
    labels = run_labels([result.config for result in results])
    return Section(
        name="runs",
        title="Learning curves",
        chart=chart(plot_curves(results)),
        tables=[_table(results, labels)],
        notes=[
            "The return is the mean over all evaluations of a seed; in brackets the 95% interval "
            "of the mean over seeds, by bootstrap."
        ],
        origins=[
            _origin(label, source, result)
            for label, source, result in zip(labels, sources, results, strict=True)
        ],
    )


def _table(results: Sequence[Result], labels: Sequence[str]) -> Table:
    rows = [["environment", "algorithm", "seeds", "steps", "return", "return at the end"]]
    for result, label in zip(results, labels, strict=True):
        kept = whole(result.returns)
        returns = result.returns[kept]
        rows.append(
            [
                result.config.env,
                label,
                how_many(kept),
                f"{result.steps[-1]:,}",
                _mean(returns.mean(axis=1)),
                _mean(returns[:, -1]),
            ]
        )
    return rows


def _mean(values: np.ndarray) -> str:
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    low, high = bootstrap_interval(values)
    return f"{values.mean():.1f} [{float(low):.1f}, {float(high):.1f}]"


def _origin(label: str, source: str, result: Result) -> str:
    facts = result.provenance
    if not facts:
        return f"{label}: `{source}`, without provenance."
    where = f"{facts.get('machine')} ({facts.get('devices')} × {facts.get('device_kind')})"
    date = str(facts.get("date"))[:10]
    return (
        f"{label}: `{source}`, {where}, {date}, commit {facts.get('commit')}, "
        f"`{facts.get('command')}`."
    )
