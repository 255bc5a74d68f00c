"""Progress of one task or many: live bars on a terminal or in a notebook, plain lines elsewhere."""

import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TextIO, cast

from freqdyna.core.errors import counted

SECONDS_BETWEEN_LINES = 15.0
GREATEST_NUMBER_OF_BARS = 20
WIDE = 100
"""Columns of a terminal that has room for a bar next to the texts."""
_COMPILING = "compiling …"


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
    """The output of a command while it runs; it must be closed at the end."""

    def __init__(self) -> None:
        # In a notebook, bars need ipywidgets.
        in_notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
        self._bars = _bars() if sys.stdout.isatty() or in_notebook else None
        self._tasks: dict[str, Any] = {}
        """The bar of each task."""
        self._last = time.monotonic()
        """When the last line was printed."""
        self._began: dict[str, tuple[float, int]] = {}
        """When each task was first reported, and how much of it was done then."""
        self._printed: dict[str, int] = {}
        """What was done of each task when its last line was printed."""
        self._has_headline = False

    def note(self, text: str) -> None:
        """Print a text once."""
        if self._bars is None:
            print(text, file=_Output(), flush=True)
        else:
            self._bars.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def wait(self, text: str) -> None:
        """Say what is being done before there is progress to show; `remove` ends it."""
        if self._bars is None:
            self.note(text)
        else:
            self._tasks[text] = self._bars.add_task(text, total=None, text="")

    def show(self, task: str, done: int, total: int, text: str = "") -> None:
        """Show how much of a task is done, and a text; its time counts from the first call."""
        if self._bars is None:
            self._show_line(task, done, total, text)
            return
        if task not in self._tasks:
            if len(self._tasks) == GREATEST_NUMBER_OF_BARS:
                return
            self._tasks[task] = self._bars.add_task(task, total=total, completed=done, text=text)
        self._bars.update(self._tasks[task], completed=done, total=total, text=text)

    def remove(self, task: str) -> None:
        """Stop showing a task; lines stay as they are."""
        if self._bars is not None and task in self._tasks:
            self._bars.remove_task(self._tasks.pop(task))

    def headline(self, text: str) -> None:
        """Show a summary of all tasks; without bars, it replaces the lines of single tasks."""
        self._has_headline = True
        if self._bars is not None:
            self._bars.headline = text
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self.note(text)

    def close(self) -> None:
        """Stop updating the display."""
        if self._bars is not None:
            self._bars.stop()

    def _show_line(self, task: str, done: int, total: int, text: str) -> None:
        """Print a line if some time has passed since the last one, or the task is done."""
        now = time.monotonic()
        if task not in self._began:
            self._last, self._began[task] = now, (now, done)
        began, first = self._began[task]
        due = now - self._last >= SECONDS_BETWEEN_LINES or first < done == total
        if self._has_headline or not due or self._printed.get(task) == done:
            return
        self._last, self._printed[task] = now, done
        left = (now - began) / max(done - first, 1) * (total - done)
        remaining = f"{left:.0f} s left" if done > first else ""
        self.note(" | ".join(filter(None, [f"{task} {done:,} of {total:,}", text, remaining])))


def _bars() -> Any:
    """Live bars with `rich`, which is imported here because that takes time."""
    from rich import progress
    from rich.console import Console
    from rich.table import Column
    from rich.text import Text

    class Bars(progress.Progress):
        headline = ""

        def get_renderables(self) -> Any:
            if self.headline:
                yield Text(self.headline)
            yield self.make_tasks_table(self.tasks)

    def text(template: str) -> progress.TextColumn:
        # Long texts are folded, so that what varies is not truncated on a narrow terminal.
        return progress.TextColumn(template, markup=False, table_column=Column(overflow="fold"))

    bars = Bars(console=Console(file=cast(TextIO, _Output())))
    bars.columns = (
        text("{task.description}"),
        *([progress.BarColumn(bar_width=20)] if bars.console.width >= WIDE else []),
        progress.MofNCompleteColumn(),
        text("{task.fields[text]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
    )
    bars.start()
    return bars


@dataclass(frozen=True)
class LastEvaluation:
    """The last evaluation of a run in progress, as it is shown."""

    step: int
    """The step at which the seeds were evaluated, which may be before the current one."""
    mean_return: float | None
    """The mean over the seeds that neither diverged nor stopped; None if there is none."""
    left_out: str = ""
    """Why seeds are left out, such as "2 of 3 seeds; 1 diverged"; empty if none is."""

    def text(self) -> str:
        """The mean return, its step and its seeds, such as "mean return -12.3 at step 500"."""
        mean = "" if self.mean_return is None else f"mean return {self.mean_return:,.1f}"
        over = " over ".join(filter(None, [mean, self.left_out]))
        return f"{over} at step {self.step:,}" if over else ""


class Progress:
    """Receives the progress of a run; this one ignores it, except for warnings."""

    def note(self, text: str) -> None:
        """Receive a message."""

    def warn(self, text: str) -> None:
        """Receive a warning."""
        warnings.warn(text, stacklevel=2)

    def compile(self) -> None:
        """Compilation starts."""

    def start(self) -> None:
        """Compilation is done and training starts."""

    def update(self, step: int, last: LastEvaluation | None) -> None:
        """Every seed has taken `step` steps; `last` is None before the first evaluation."""

    def close(self) -> None:
        """The run is over."""


class RunProgress(Progress):
    """Shows the progress of a run of `steps` steps of each seed, which starts at `first_step`."""

    def __init__(self, seeds: int, steps: int, first_step: int) -> None:
        self._seeds, self._steps, self._first_step = seeds, steps, first_step
        self._together = "" if seeds == 1 else f" of {counted(seeds, 'seed')} together"
        self._began = time.monotonic()
        self._display = Display()

    def note(self, text: str) -> None:
        """Show the message."""
        self._display.note(text)

    def warn(self, text: str) -> None:
        """Show the warning."""
        self._display.note(f"warning: {text}")

    def compile(self) -> None:
        """Show that nothing is trained yet."""
        self._display.wait(_COMPILING)

    def start(self) -> None:
        """Show the steps instead of the compilation."""
        self._began = time.monotonic()
        self._display.remove(_COMPILING)
        self._display.show("step", self._first_step, self._steps)

    def update(self, step: int, last: LastEvaluation | None) -> None:
        """Show the step, the last mean return and when it was measured, and the rate."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        rate = f"{self._seeds * (step - self._first_step) / seconds:,.0f} steps/s{self._together}"
        text = " | ".join(filter(None, [last.text() if last else "", rate]))
        self._display.show("step", step, self._steps, text)

    def close(self) -> None:
        """Close the display."""
        self._display.close()
