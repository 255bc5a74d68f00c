import errno
import io
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from freqdyna.training import progress


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_lines_come_now_and_then_and_at_the_end(clock, capsys):
    lines = []
    with closing(progress.Display()) as display:
        # The time before the first report, such as compilation, does not count.
        for at, done in ((140.0, 200), (150.0, 300), (160.0, 600), (165.0, 700), (166.0, 1000)):
            clock.now = at
            display.show("F1 curves:", done, 1000)
            lines.append(capsys.readouterr().out)
    assert [bool(line) for line in lines] == [False, False, True, False, True]
    assert "20 s" in lines[2]


def test_the_time_that_is_left_follows_from_what_comes_after_the_warm_up(clock, capsys):
    with closing(progress.RunProgress(seeds=2, steps=1000)) as run:
        for at, step in ((100.0, 1), (101.0, 500)):
            clock.now = at
            run.update(step, "")
        run.forget_rate()
        clock.now = 141.0
        run.update(520, "")
    line = capsys.readouterr().out.splitlines()[-1]
    assert "960 s" in line  # 480 steps of 2 s
    assert "1 steps/s" in line


class ClosedTerminal(io.StringIO):
    """A terminal whose window was closed."""

    def write(self, text):
        raise OSError(errno.EIO, "Input/output error")

    def flush(self):
        raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_closed_terminal_does_not_stop_a_run(is_terminal, monkeypatch):
    monkeypatch.setattr(sys, "stdout", ClosedTerminal())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    run = progress.RunProgress(seeds=2, steps=10)
    run.note("begin")
    for step in range(1, 11):
        run.update(step, "mean return -1.0")
    run.warn("end")
    run.close()
