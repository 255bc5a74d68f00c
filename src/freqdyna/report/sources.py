"""The content of a report about trainings."""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata

from freqdyna.report import comparison, runs, sensitivity
from freqdyna.report.explorer import explorers
from freqdyna.report.section import Report
from freqdyna.results.result import Result


def gather(results: Sequence[Result], sources: Sequence[str], command: str) -> Report:
    """Gather the content of a report about trainings.

    Args:
        results: The trainings.
        sources: Where each of them is stored.
        command: The command that writes the report.

    """
    sections = [
        runs.section(results, sources),
        *runs.metric_sections(results),
        comparison.section(results, sources),
        sensitivity.section(results),
    ]
    return Report(
        title="Training report",
        command=command,
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, freqdyna {metadata.version('freqdyna')}",
        sections=list(filter(None, sections)),
        explorers=explorers(results),
    )
