"""The report as a reader uses it, in headless Chromium."""

from contextlib import contextmanager

import numpy as np
import pytest
from browsing import visit

import freqdyna
from freqdyna.report import page
from freqdyna.report.explorer import packed

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def hostile_page(hostile, mazes, tmp_path_factory):
    """A page of two runs with hostile names, and of a third with a snapshot at other steps."""
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    folders = [hostile / "one", hostile / "other"]
    results = [*map(freqdyna.load, folders), mazes[2]]
    page.write(page.report(results, [*map(str, folders), "third"]), path)
    return path.as_uri()


@pytest.fixture(scope="session")
def cars_page(cars, tmp_path_factory):
    """A page of four stored runs of five seeds each."""
    path = tmp_path_factory.mktemp("cars") / "report.html"
    page.write(page.report(cars), path)
    return path.as_uri()


@contextmanager
def opened(report, **how):
    """The page, once it is built; it has no error, and asks for nothing."""
    with visit(report, **how) as visitor:
        visitor.page.wait_for_selector("main section")
        yield visitor.page
        assert visitor.errors == []
        assert visitor.asked_outside(report) == []


def chart_of(tab, section):
    """A function that reads a section's first chart, once it is drawn."""
    tab.evaluate(f"document.getElementById('{section}').scrollIntoView()")
    tab.wait_for_selector(f"#{section} .panel .main-svg")
    return lambda what: tab.evaluate(f"document.querySelector('#{section} .panel').{what}")


def test_series_averages_and_seeds_can_be_chosen(cars_page):
    with opened(cars_page) as tab:
        chart = chart_of(tab, "runs")
        lines = chart("data.length")
        for left in (lines - 2, lines):  # without the curve and its interval, and with them
            tab.click("#runs [data-series^='dyna-value']")
            assert chart("data.length") == left
        ends = "data.at(-1).y.slice(-1)[0]"
        mean = chart(ends)
        tab.click("#runs button:has-text('interquartile mean')")
        assert chart(ends) != mean
        tab.click("#runs button:has-text('individual seeds')")
        assert chart("data.length") == 28  # 20 seeds; 4 averages with intervals
        tab.click("#runs summary >> nth=0")
        tab.click("#runs details button:has-text('none')")
        assert chart("data.length") == 0
        tab.click("#runs .seeds button >> nth=3")
        assert chart("data.filter((trace) => trace.name.includes('seed 3')).length") == 4


def test_what_the_page_computes(cars_page):
    with opened(cars_page) as tab:
        assert tab.evaluate("mean([1, 2, 6])") == 3
        # Of eight values the middle four; of five 1.25 to 3.75 of them in order.
        assert tab.evaluate("interquartileMean([9, 1, 2, 3, 4, 5, 6, 100])") == 4.5
        assert tab.evaluate("interquartileMean([1, 2, 3, 4, 100])") == pytest.approx(3)
        table = np.array([[0, 1023, 5], [1023, 0, 5], [1, 1, -7]])
        decoded = tab.evaluate("(text) => [...integers(text, 3)]", packed(table))
        assert decoded == table.ravel().tolist()


def test_the_slider_moves_all_maps_of_the_explorer(hostile_page):
    with opened(hostile_page) as tab:
        assert tab.locator(".explorer canvas").count() == 10  # two agents, five maps
        pictures = "[...document.querySelectorAll('.explorer canvas')].map((c) => c.toDataURL())"
        slider = tab.locator(".explorer input[type=range]")
        slider.press("End")
        before = tab.evaluate(pictures)
        slider.press("Home")
        changed = [a != b for a, b in zip(before, tab.evaluate(pictures), strict=True)]
        assert sum(changed) >= 8  # a policy may be the same at both times
        tab.locator(".explorer canvas").first.hover()
        assert "V = " in tab.locator(".readout").inner_text()
        assert tab.locator(".explorer [data-percentile=queue]").count() == 2


def test_names_stay_text(hostile_page):
    with opened(hostile_page) as tab:
        chart_of(tab, "runs")
        name = "<img src=x onerror=window.hacked=1> $x$"
        for place in ("figcaption", "td"):
            texts = tab.locator(f"#runs {place}").all_inner_texts()
            assert any(text.startswith(name) for text in texts)
        assert tab.evaluate("window.hacked") is None
        assert tab.locator("img").count() == 0


def test_it_fits_a_phone_at_night(hostile_page):
    with opened(hostile_page, width=390, height=844, dark=True) as tab:
        chart_of(tab, "runs")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, ground[4:-1].split(","))) < 300
        tab.click("#theme")
        assert tab.evaluate("document.documentElement.dataset.theme") == "light"
