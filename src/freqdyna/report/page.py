"""The report as one HTML file that needs no network connection."""

import base64
import json
import zlib
from dataclasses import asdict
from html import escape
from importlib import resources
from pathlib import Path

from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.core.files import write_atomically
from freqdyna.report.section import Json, Report

SCRIPTS = (
    *("dom.js", "summary.js", "charts.js", "figure.js"),
    *("maps.js", "explorer.js", "table.js", "page.js"),
)


def check() -> None:
    """Raise an error if the chart library is missing, before anything is analysed."""
    _library()


def write(report: Report, out: Path) -> None:
    """Write the page to a file."""
    text = page(report).encode()
    try:
        write_atomically(out, lambda file: file.write(text))
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be written: {error}") from None


def page(report: Report) -> str:
    """The page, including styles, data, the chart library and scripts."""
    parts = {
        "title": escape(report.title),
        "style": _asset("report.css"),
        "data": _packed(_as_json(report.json())),
        "library": _packed(_library()),
        "scripts": "\n".join(_asset(name) for name in SCRIPTS),
    }
    # In one pass, so that no content of a part is mistaken for a placeholder.
    before, *pieces = _asset("report.html").split("{{")
    for piece in pieces:
        name, after = piece.split("}}", 1)
        before += parts[name.strip()] + after
    return before


def largest_parts(report: Report, number: int = 5) -> list[tuple[str, int]]:
    """The largest parts of the page.

    Args:
        report: The report.
        number: How many parts to return.

    Returns:
        Names and sizes in bytes, the largest first.

    """
    parts = {f"explorer of {one['env']}": one for one in report.explorers}
    parts |= {section.name: asdict(section) for section in report.sections}
    sizes = [(name, len(_packed(_as_json(part)))) for name, part in parts.items()]
    return sorted(sizes, key=lambda part: -part[1])[:number]


def _as_json(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(text: str) -> str:
    """Compressed and encoded so that it cannot close the script element that contains it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise FreqdynaError(f"a report needs the extra 'report': {installing('report')}") from None
    return get_plotlyjs()


def _asset(name: str) -> str:
    return (resources.files("freqdyna.report") / "assets" / name).read_text()
