"""Progress of one task or many: live bars on a terminal, plain lines elsewhere."""

import sys
import time
import warnings
from collections import deque
from contextlib import suppress
from typing import Any, TextIO, cast

from rich import progress
from rich.console import Console
from rich.table import Column

SECONDS_BETWEEN_LINES = 15.0


class _Output:
    """Standard output, except that text which cannot be written is dropped.

    After its terminal or its reader was closed, a run must still be able to save its state.
    """

    def __init__(self) -> None:
        self._stream = sys.stdout

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # ValueError: the stream is closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Display:
    """The output of a command while it runs: a bar for each task, or lines about one task.

    It must be closed at the end.
    """

    def __init__(self) -> None:
        self._bars = _bars() if sys.stdout.isatty() else None
        self._tasks: dict[str, progress.TaskID] = {}
        """The bar of each task."""
        self._first: tuple[float, int] | None = None
        """When the task of the lines was first shown, and how much was done then."""
        self._last = 0.0, 0
        """When the last line was printed, and how much was done then."""

    @property
    def has_bars(self) -> bool:
        """Whether more than one task can be shown."""
        return self._bars is not None

    def note(self, text: str) -> None:
        """Print a text once."""
        if self._bars is None:
            print(text, file=_Output(), flush=True)
        else:
            self._bars.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, task: str, done: int, total: int, text: str = "") -> None:
        """Show how much of a task is done, and a text; its time counts from the first call."""
        if self._bars is None:
            self._show_line(task, done, total, text)
            return
        if task not in self._tasks:
            self._tasks[task] = self._bars.add_task(task, total=total, completed=done, text=text)
        self._bars.update(self._tasks[task], completed=done, total=total, text=text)

    def forget_rate(self, task: str, done: int) -> None:
        """Estimate the time that is left from what follows."""
        self._first = time.monotonic(), done
        if self._bars is not None and task in self._tasks:
            number = self._tasks[task]
            shown = next(one for one in self._bars.tasks if one.id == number)
            began = shown.start_time
            self._bars.reset(number, completed=done)
            shown.start_time = began  # the time that has passed is still that of the whole run

    def remove(self, task: str) -> None:
        """Remove the bar of a task."""
        if self._bars is not None and task in self._tasks:  # two units may have the same label
            self._bars.remove_task(self._tasks.pop(task))

    def close(self) -> None:
        """Stop updating the display."""
        if self._bars is not None:
            self._bars.stop()

    def _show_line(self, task: str, done: int, total: int, text: str) -> None:
        """Print a line if some time has passed since the last one, or the task is done."""
        now = time.monotonic()
        if self._first is None:
            self._first = self._last = now, done
        (began, first), (printed, shown) = self._first, self._last
        if done > shown and (now - printed >= SECONDS_BETWEEN_LINES or done == total):
            self._last = now, done
            left = ""
            if 50 * (done - first) > total - first:  # before, most of the time is compiling
                # A short piece may have waited for a compiler.
                recent = shown >= first and 50 * (done - shown) > total
                since, start = (printed, shown) if recent else (began, first)
                left = f"{(now - since) / (done - start) * (total - done):.0f} s left"
            parts = f"{task} {done:,} of {total:,}", text, left
            self.note(" | ".join(filter(None, parts)))


def _bars() -> progress.Progress:
    def text(template: str) -> progress.TextColumn:
        # Long texts are folded, so that what varies is not truncated on a narrow terminal.
        return progress.TextColumn(template, markup=False, table_column=Column(overflow="fold"))

    bars = progress.Progress(
        text("{task.description}"),
        progress.MofNCompleteColumn(),
        text("{task.fields[text]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=Console(file=cast(TextIO, _Output())),
    )
    bars.start()
    return bars


class Progress:
    """Receives the progress of a run; this one ignores it, except for warnings."""

    def note(self, text: str) -> None:
        """Receive a message."""

    def warn(self, text: str) -> None:
        """Receive a warning."""
        warnings.warn(text, stacklevel=2)

    def update(self, step: int, text: str) -> None:
        """Every seed has taken `step` steps; `text` is about the last evaluation."""

    def forget_rate(self) -> None:
        """The next steps take longer than those before."""

    def close(self) -> None:
        """The run is over."""


class RunProgress(Progress):
    """Shows the progress of a run of `steps` steps of each seed."""

    def __init__(self, seeds: int, steps: int) -> None:
        self._seeds, self._steps, self._display = seeds, steps, Display()
        self._recent: deque[tuple[float, int]] = deque()
        """The steps of the last seconds, and when they were taken."""

    def note(self, text: str) -> None:
        """Show the message."""
        self._display.note(text)

    def warn(self, text: str) -> None:
        """Show the warning."""
        self._display.note(f"warning: {text}")

    def update(self, step: int, text: str) -> None:
        """Show the step, the text, and the steps per second of all seeds together."""
        now = time.monotonic()
        self._recent.append((now, step))
        while len(self._recent) > 2 and now - self._recent[1][0] > SECONDS_BETWEEN_LINES:
            self._recent.popleft()
        began, first = self._recent[0]
        number = self._seeds * (step - first) / max(now - began, 1e-9)
        rate = f"{number:,.0f} steps/s of all seeds"
        self._display.show("step", step, self._steps, f"{text} | {rate}" if text else rate)

    def forget_rate(self) -> None:
        """Show rates and the time that is left of the next steps only."""
        if self._recent:
            last = self._recent[-1][1]
            self._recent.clear()
            self._recent.append((time.monotonic(), last))
            self._display.forget_rate("step", last)

    def close(self) -> None:
        """Close the display."""
        self._display.close()
