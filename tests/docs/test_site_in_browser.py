"""The documentation as a reader uses it, in headless Chromium; `make browser` builds it before."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import visit

pytestmark = pytest.mark.browser
SITE = Path(__file__).parents[2] / "site"
PAGES = ["index", "settings", "reproduction", "api/training"]
WIDE = 1300
PHONE = 400
CUT = """() => [...document.querySelectorAll(".md-typeset table")].filter((table) => {
  const scroller = table.closest(".md-typeset__scrollwrap") ?? table;
  return table.scrollWidth > scroller.clientWidth + 1
    && !["auto", "scroll"].includes(getComputedStyle(scroller).overflowX);
}).map((table) => table.textContent.slice(0, 60))"""
"""Tables that are wider than their place and cannot be scrolled."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def home():
    """The address of the site on this machine."""
    assert (SITE / "index.html").is_file(), "build the site first: make docs"
    handler = functools.partial(Quiet, directory=SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_error_or_request_elsewhere(home, name):
    with visit(f"{home}{name}.html", width=WIDE) as seen:
        seen.page.wait_for_load_state("networkidle")
        assert seen.errors == []
        assert seen.asked_outside(home) == []
        assert seen.page.locator("h1").count() == 1
        broken = "[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
        assert seen.page.evaluate(broken) == []
        assert seen.page.evaluate(CUT) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_at_night(home, name):
    with visit(f"{home}{name}.html", width=PHONE, height=844, dark=True) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= PHONE
        assert seen.page.evaluate(CUT) == []
        assert seen.page.evaluate("document.body.dataset.mdColorScheme") == "slate"
