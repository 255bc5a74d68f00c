"""The first screen of a report: who is better, by how much, how sure, at what cost."""

from collections.abc import Sequence

import numpy as np

from freqdyna.core.errors import counted
from freqdyna.report.charts import Section, Table
from freqdyna.results.chart import record_labels
from freqdyna.results.compare import FEW, RunComparison
from freqdyna.results.measures import EnvironmentComparison, Estimate
from freqdyna.results.record import Record
from freqdyna.results.tables import NO_NUMBER, decimals, estimate, number, pair_rows, title

VERDICTS = {
    "higher": "decidedly higher than",
    "lower": "decidedly lower than",
    "undecided": "not decidedly different from",
}
MOST = 12
"""The maximum number of runs of an environment in its table, those with the highest means."""
TRUSTED = (
    "`trust` is the mean weight of the transitions that a run planned with its learned model; 1 "
    "counts like a stored one. `trust_refused` is the share of those below 0.1, so that near 1 the "
    "run hardly planned. `seconds` are those of all seeds together."
)


def answer_section(
    results: Sequence[Record], sources: Sequence[str], comparison: RunComparison | None
) -> Section | None:
    """A sentence and a table for each environment; None without runs."""
    if not results:
        return None
    labels = record_labels(results, sources)
    compared = {one.env: one for one in comparison.environments} if comparison else {}
    lead, tables = [], {}
    for env in dict.fromkeys(result.env_name for result in results):
        runs = [(label, r) for label, r in zip(labels, results, strict=True) if r.env_name == env]
        heading = f"Return on {env}, after the warm-up"
        if env in compared:
            lead.append(_sentence(compared[env]))
            heading = title(compared[env])
        tables[heading] = _rows(runs, compared.get(env))
    return Section(
        name="answer",
        title="Which run is better?" if compared else "The runs",
        lead=lead,
        tables=tables,
        notes=[TRUSTED],
    )


def _sentence(environment: EnvironmentComparison) -> str:
    """Which runs are decidedly higher or lower than the one that they are compared with."""
    baseline, parts = environment.pairs[0].second.label, []
    _, *rows = pair_rows(environment)
    for verdict, words in VERDICTS.items():
        labels = [f"`{p.first.label}`" for p in environment.pairs if p.verdict == verdict]
        more = [counted(len(labels) - MOST, "other run")] if len(labels) > MOST else []
        if labels:
            verb = "is" if len(labels) == 1 else "are"
            parts.append(f"{', '.join(labels[:MOST] + more)} {verb} {words} `{baseline}`")
    if len(rows) == 1:
        _, difference, *_, p, _ = rows[0]
        parts[0] += f" (difference {difference}, p = {p})"
    if min(len(run.scores) for run in environment.runs) < FEW:
        parts.append(f"with fewer than {FEW} seeds, more of them may say otherwise")
    return f"{environment.env}: {'; '.join(parts)}."


def _rows(runs: list[tuple[str, Record]], environment: EnvironmentComparison | None) -> Table:
    """A row for each run; columns without a number are left out."""
    if environment:
        means = {run.label: run.mean for run in environment.runs}
    else:
        means = {label: _mean_return(result) for label, result in runs}
    if len(runs) > MOST:
        runs = sorted(runs, key=lambda run: -np.nan_to_num(means[run[0]].value, nan=-np.inf))[:MOST]
    digits = decimals([mean.value for mean in means.values()])
    columns: dict[str, list[str]] = {
        "run": [label for label, _ in runs],
        "seeds": [result.complete_seeds.text() for _, result in runs],
        "mean return": [estimate(means[label], digits) for label, _ in runs],
    }
    if environment:
        names, *pairs = pair_rows(environment)
        labels = [pair.first.label for pair in environment.pairs]
        of_run = {
            label: dict(zip(names, cells, strict=True))
            for label, cells in zip(labels, pairs, strict=True)
        }
        for name in ("mean difference", "p (Holm)", "mean is"):
            columns[name] = [of_run.get(label, {}).get(name, NO_NUMBER) for label, _ in runs]
    for metric in ("seconds", "trust", "trust_refused"):
        columns[metric] = [_mean_of(result, metric) for _, result in runs]
    numbered = {name: cells for name, cells in columns.items() if set(cells) != {NO_NUMBER}}
    return [list(numbered), *map(list, zip(*numbered.values(), strict=True))]


def _mean_return(result: Record) -> Estimate:
    """The mean return after the warm-up of the seeds that are complete."""
    return Estimate.of(
        lambda seeds: seeds.mean(-1), result.mean_return()[result.complete_seeds.kept]
    )


def _mean_of(result: Record, metric: str) -> str:
    """The seconds at the end, or the mean of another metric after the warm-up."""
    values = result.metrics.get(metric)
    if values is None:
        return NO_NUMBER
    kept = values[result.complete_seeds.kept]
    kept = kept[:, -1:] if metric == "seconds" else kept[:, result.after_warmup]
    if not np.isfinite(kept).any():
        return NO_NUMBER
    return number(float(np.nanmean(kept)), 0 if metric == "seconds" else 2)
