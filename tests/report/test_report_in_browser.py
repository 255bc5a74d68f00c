"""The report as a reader uses it, in headless Chromium."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browsing import visit
from conftest import HOSTILE, gathered

import freqdyna
from freqdyna.report import page
from freqdyna.report.explorer import packed

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def report(run_folders, tmp_path_factory):
    """A page of three runs with hostile names."""
    other = tmp_path_factory.mktemp("other") / "run"
    result = freqdyna.load(run_folders / "dyna-value")
    config = replace(result.config, env=f"{HOSTILE} $x$")
    replace(result, config=config, snapshots={}).save(other)
    made = gathered(run_folders, other)
    path = tmp_path_factory.mktemp("report") / "report.html"
    page.write(made, path)
    return path.as_uri()


@pytest.fixture(scope="session")
def stored_report(tmp_path_factory):
    """A page of four stored runs of five seeds each."""
    folder = Path(__file__).parents[2] / "results" / "explorer"
    path = tmp_path_factory.mktemp("stored") / "report.html"
    page.write(page.report([freqdyna.load(run) for run in folder.glob("mountain-car-*")]), path)
    return path.as_uri()


@contextmanager
def opened(report, **how):
    """The page, once it is built."""
    with visit(report, **how) as seen:
        seen.page.wait_for_selector("main section")
        yield seen


def drawn(seen, section):
    """The chart data of a section's first panel, once it is drawn."""
    seen.page.evaluate(f"document.getElementById('{section}').scrollIntoView()")
    seen.page.wait_for_selector(f"#{section} .panel .main-svg")
    chart = f"document.querySelector('#{section} .panel')"
    return lambda what: seen.page.evaluate(f"{chart}.{what}")


def test_it_opens_without_error_or_request(report):
    with opened(report) as seen:
        drawn(seen, "runs")
        assert seen.errors == []
        assert seen.asked_outside(report) == []


def test_a_series_is_switched_off_and_on(stored_report):
    with opened(stored_report) as seen:
        chart = drawn(seen, "runs")
        lines = chart("data.length")
        seen.page.click("#runs [data-series^='dyna-value']")
        assert chart("data.length") == lines - 2  # the curve and its interval
        seen.page.click("#runs [data-series^='dyna-value']")
        assert chart("data.length") == lines
        for switch, left in (("none", 0), ("all", lines)):
            seen.page.click(f"#runs .series > button:text-is('{switch}')")
            assert chart("data.length") == left
        assert seen.errors == []


def test_the_average_and_the_seeds_can_be_chosen(stored_report):
    with opened(stored_report) as seen:
        chart = drawn(seen, "runs")
        ends = "data.at(-1).y.slice(-1)[0]"
        mean = chart(ends)
        seen.page.click("#runs button:has-text('interquartile mean')")
        middle = chart(ends)
        assert middle != mean
        seen.page.click("#runs button:has-text('individual seeds')")
        assert chart("data.length") == 28  # 20 seeds; 4 averages with intervals
        low, high = chart("layout.yaxis.range")
        assert chart(f"data.every(({{ y }}) => y.every((v) => {low} <= v && v <= {high}))")
        seen.page.click("#runs summary:has-text('Select from')")
        seen.page.click("#runs details button:has-text('none')")
        assert chart("data.length") == 0
        seen.page.click("#runs .seeds button >> nth=3")
        assert chart("data.filter((trace) => trace.name.includes('seed 3')).length") == 4
        assert seen.errors == []


def test_the_average_in_the_page_is_numpys(report):
    with opened(report) as seen:
        assert seen.page.evaluate("mean([1, 2, 6])") == 3
        # Of eight values the middle four; of five 1.25 to 3.75 of them in order.
        assert seen.page.evaluate("interquartileMean([9, 1, 2, 3, 4, 5, 6, 100])") == 4.5
        assert seen.page.evaluate("interquartileMean([1, 2, 3, 4, 100])") == pytest.approx(3)


def test_the_slider_moves_all_panels_of_the_explorer(report):
    with opened(report) as seen:
        count = seen.page.locator(".explorer canvas").count()
        assert count == 10  # two agents, five panels
        picture = "[...document.querySelectorAll('.explorer canvas')].map((c) => c.toDataURL())"
        before = seen.page.evaluate(picture)
        assert "step 40" in seen.page.locator(".explorer output").inner_text()
        seen.page.locator(".explorer input[type=range]").press("ArrowLeft")
        assert "step 10" in seen.page.locator(".explorer output").inner_text()
        after = seen.page.evaluate(picture)
        changed = [a != b for a, b in zip(before, after, strict=True)]
        assert sum(changed) >= 8  # a policy may be the same at both times
        seen.page.locator(".explorer canvas").first.hover()
        assert "V = " in seen.page.locator(".readout").inner_text()
        assert "dyna-value by climbing V, dyna-frequency by climbing g and V" in (
            seen.page.locator(".explorer .caption").inner_text()
        )
        assert seen.page.locator(".explorer [data-percentile=queue]").count() == 2
        table = np.array([[0, 1023, 5], [1023, 0, 5], [1, 1, -7]])
        decode = "(text) => [...integers(text, 3)]"
        assert seen.page.evaluate(decode, packed(table)) == table.ravel().tolist()
        other = "{ label: 'b', finds: 'drawing from the whole space' }"
        for runs in ("{ label: 'a', finds: null }", other):
            told = seen.page.evaluate(f"caption({{ runs: [{runs}], landmarks: [] }})")
            assert "climb" not in told
            assert ("b by drawing from the whole space" in told) == (runs == other)
        assert seen.errors == []


def test_playing_goes_on_whatever_the_pointer_does(report):
    with opened(report) as seen:
        # In one go, as two snapshots are played in half a second.
        told = seen.page.evaluate(
            """() => {
                const [home, canvas] = [".explorer", ".explorer canvas"].map((which) =>
                    document.querySelector(which));
                const move = () => canvas.dispatchEvent(new PointerEvent("pointermove"));
                const told = [];
                for (let press = 0; press < 3; press++) {
                    home.querySelector("button").click();
                    move();
                    told.push(home.querySelector("button").textContent);
                    told.push(home.querySelector("output").textContent);
                }
                return told;
            }"""
        )
        assert told == ["stop", "step 10", "play", "step 10", "stop", "step 10"]
        seen.page.wait_for_selector(".explorer button:text-is('play')")
        assert "step 40" in seen.page.locator(".explorer output").inner_text()
        assert seen.errors == []


def test_a_run_is_shown_only_at_steps_of_its_own(report):
    with opened(report) as seen:
        seen.page.evaluate(
            """async () => {
                const given = JSON.parse(await unpacked("data")).explorers[0];
                const run = given.runs[0];
                run.steps = [25];
                run.frames = run.frames.map((frames) => [frames[1]]);
                document.getElementById("main").replaceChildren(explorer(given, "late").root);
            }"""
        )
        slider = seen.page.locator("#late input[type=range]")
        slider.press("Home")
        for step, shown in ((10, "dyna-frequency"), (25, "dyna-value"), (40, "dyna-frequency")):
            assert f"step {step}" in seen.page.locator("#late output").inner_text()
            told = seen.page.locator("#late .map.first").all_inner_texts()
            without = [text for text in told if "no snapshot at this step" in text]
            assert len(told) - len(without) == 1
            assert not any(shown in text or "return" in text for text in without)
            slider.press("ArrowRight")
        assert seen.errors == []


def test_names_stay_text(report):
    with opened(report) as seen:
        drawn(seen, "runs")
        assert f"{HOSTILE} $x$" in seen.page.locator("#runs figcaption").all_inner_texts()
        assert f"{HOSTILE} $x$" in seen.page.locator("#runs td").all_inner_texts()
        assert seen.page.evaluate("window.hacked") is None
        assert seen.page.locator("img").count() == 0
        seen.page.click("#runs summary:has-text('Provenance of these numbers')")
        told = seen.page.locator("#runs details").last.inner_text()
        assert HOSTILE in told
        assert "</script><script>hacked=1//" in told


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_by_day_and_night(report, dark):
    with opened(report, width=390, height=844, dark=dark) as seen:
        drawn(seen, "runs")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 300) == dark
        seen.page.click("#theme")
        assert seen.page.evaluate("document.documentElement.dataset.theme") == (
            "light" if dark else "dark"
        )
        assert seen.errors == []
