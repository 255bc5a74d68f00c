"""A real browser for tests: it notes what goes wrong and what is asked of the network."""

import shutil
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
LAST_RESORT = 20 * 60 * 1000
"""Milliseconds after which something hangs, however slow or busy the machine is."""


class Visit:
    """A page, and what it complained of or asked for."""

    def __init__(self, page):
        self.page = page
        self.errors = []
        self.requests = []
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def asked_outside(self, home):
        """Every address asked for that is neither at home nor inside the page."""
        inside = (home, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(inside)]


@contextmanager
def visit(url, width=1280, height=900, dark=False):
    """Open a page in a fresh browser."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program, f"these tests need one of {', '.join(NAMES)} on the path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=LAST_RESORT
        )
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        context.set_default_timeout(LAST_RESORT)
        seen = Visit(context.new_page())
        seen.page.goto(url)
        yield seen
        browser.close()
