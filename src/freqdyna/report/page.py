"""The report as one HTML file that needs no network connection."""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from importlib import metadata, resources
from pathlib import Path

from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.report import runs
from freqdyna.report.answer import answer_section
from freqdyna.report.charts import Report
from freqdyna.report.explorer import explorers
from freqdyna.results.compare import RunComparison
from freqdyna.results.folder import write_output
from freqdyna.results.result import Result

SCRIPTS = ("dom", "summary", "charts", "figure", "maps", "explorer", "table", "page")


def report(
    results: Sequence[Result],
    sources: Sequence[str] = (),
    command: str = "",
    baseline: str | None = None,
    trials: Sequence[runs.Trial | None] = (),
) -> Report:
    """The content of a page about trainings, which `command` writes.

    `sources` say where each of them is stored, and `trials` what those of a hyper-parameter search
    are, if there are any. All others are compared with the `baseline`, a name or a number.
    """
    sources = sources or [f"training {i + 1}" for i in range(len(results))]
    trials = trials or [None] * len(results)
    plain = [i for i, trial in enumerate(trials) if trial is None]
    runs_alone, alone_sources = [results[i] for i in plain], [sources[i] for i in plain]
    comparison = runs.comparison_of(runs_alone, alone_sources, baseline)
    known = comparison if isinstance(comparison, RunComparison) else None
    sections = [
        answer_section(runs_alone, alone_sources, known),
        runs.trust_section(results),
        runs.curves_section(results, sources),
        runs.trials_section(results, sources, trials),
        runs.settings_section(runs_alone),
        *runs.metric_sections(results),
        runs.comparison_section(comparison, alone_sources, baseline),
        runs.sensitivity_section(results),
    ]
    return Report(
        title="Training report",
        command=command,
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, freqdyna {metadata.version('freqdyna')}",
        sections=list(filter(None, sections)),
        explorers=explorers(results),
    )


def write(content: Report, out: Path) -> None:
    """Write the page to a file."""
    write_output(out, page(content).encode())


def page(content: Report) -> str:
    """The page, including styles, data, the chart library and scripts."""
    parts = {
        "title": escape(content.title),
        "style": _asset("report.css"),
        "data": _packed(json.dumps(asdict(content), ensure_ascii=False, allow_nan=False)),
        "library": _packed(library()),
        "scripts": "\n".join(_asset(f"{name}.js") for name in SCRIPTS),
    }
    return _asset("report.html").format(**parts)


def _packed(text: str) -> str:
    """Compressed and encoded so that it cannot close the script element that contains it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def library() -> str:
    """Plotly's script; raises an error if it is missing."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise FreqdynaError(f"a report needs the extra 'report': {installing('report')}") from None
    return get_plotlyjs()


def _asset(name: str) -> str:
    return (resources.files("freqdyna.report") / "assets" / name).read_text()
