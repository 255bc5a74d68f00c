"""A section that compares the user's runs in the same environment."""

import shlex
from collections import Counter
from collections.abc import Sequence

from freqdyna.core.errors import FreqdynaError
from freqdyna.report.charts import as_json
from freqdyna.report.section import Section
from freqdyna.results.chart import Chart
from freqdyna.results.comparison.compare_runs import compare_runs
from freqdyna.results.comparison.figure import differences_panel, profile_panel
from freqdyna.results.comparison.tables import LEGEND, average_rows, pair_rows, run_rows, title
from freqdyna.results.result import Result
from freqdyna.results.run_styles import record_labels

MOST = 10
"""Runs in an environment of which all pairs are compared; more would be a table of hundreds."""


def section(results: Sequence[Result], sources: Sequence[str]) -> Section | None:
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
        if number > MOST
    ]
    chosen = [i for i, result in enumerate(results) if 1 < numbers[result.env_name] <= MOST]
    if not chosen:
        return Section("comparison", "Comparison", notes=many) if many else None
    try:
        found = compare_runs([results[i] for i in chosen], [labels[i] for i in chosen])
    except FreqdynaError as error:  # such as runs without common steps
        return Section("comparison", "Comparison", notes=[f"Not compared: {error}.", *many])
    panels = [
        panel
        for environment in found.environments
        for panel in (profile_panel(environment), differences_panel(environment))
    ]
    tables = [
        [["environment", *header], *([environment.env, *row] for row in body)]
        for environment in found.environments
        for header, *body in (run_rows(environment), pair_rows(environment))
    ]
    if found.averages:
        tables.append(average_rows(found.averages))
    return Section(
        name="comparison",
        title="Comparison",
        command=shlex.join(["freqdyna", "compare", *dict.fromkeys(sources)]),
        chart=as_json(Chart(panels)),
        tables=tables,
        notes=[*map(title, found.environments), *found.notes, *many, LEGEND],
    )
