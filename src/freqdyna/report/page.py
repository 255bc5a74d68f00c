"""The report as one HTML file that needs no network."""

import json
from html import escape
from importlib import resources
from pathlib import Path

from freqdyna.errors import FreqdynaError
from freqdyna.files import write_atomically
from freqdyna.report.section import Report

SCRIPTS = (
    *("dom.js", "summary.js", "charts.js", "figure.js"),
    *("maps.js", "explorer.js", "table.js", "page.js"),
)


def write(report: Report, out: Path) -> None:
    """Write the page."""
    text = page(report).encode()
    try:
        write_atomically(out, lambda file: file.write(text))
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be written: {error}") from None


def page(report: Report) -> str:
    """The page: styles, data, the chart library and our scripts, all inside."""
    parts = {
        "title": escape(report.title),
        "style": _asset("report.css"),
        "data": _as_data(report),
        "library": _library(),
        "scripts": "\n".join(_asset(name) for name in SCRIPTS),
    }
    # One pass: nothing that a part contains is taken for the place of another.
    before, *pieces = _asset("report.html").split("{{")
    for piece in pieces:
        name, after = piece.split("}}", 1)
        before += parts[name.strip()] + after
    return before


def _as_data(report: Report) -> str:
    """JSON that cannot end the script element it stands in, whatever names it contains."""
    text = json.dumps(report.json(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise FreqdynaError(
            "a report needs the extra 'report': pip install 'freqdyna[report]'"
        ) from None
    return get_plotlyjs().replace("</script", "<\\/script")


def _asset(name: str) -> str:
    return (resources.files("freqdyna.report") / "assets" / name).read_text()
