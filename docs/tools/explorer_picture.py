"""Redraws docs/images/explorer.png from the stored runs: python docs/tools/explorer_picture.py.

Run it in the root of the repository. It needs the extra `dev` and Chromium.
"""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

from freqdyna import load
from freqdyna.report import page

RUNS = sorted(Path("results/explorer").glob("mountain-car-*"))
STYLE = """
.readout, .caption { display: none; }
.explorer { border: 0; border-radius: 0; margin: 0; padding: 10px; }
"""


def main() -> None:
    """The explorer as the page opens it, by the rule of `freqdyna.report.explorer`."""
    sys.path.insert(0, "tests")
    visit = import_module("browsing").visit
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        page.write(page.report([load(run) for run in RUNS]), path)
        with visit(path.as_uri()) as seen:
            seen.page.wait_for_selector(".explorer")
            seen.page.add_style_tag(content=STYLE)
            seen.page.locator(".explorer").screenshot(path="docs/images/explorer.png")


if __name__ == "__main__":
    main()
