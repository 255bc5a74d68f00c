"""Progress of a run: a live bar on a terminal or in a notebook, plain lines elsewhere."""

import abc
import sys
import time
import warnings
from importlib.util import find_spec
from typing import Any

SECONDS_BETWEEN_LINES = 15.0


class Progress(abc.ABC):
    """What a run tells while it works."""

    @abc.abstractmethod
    def note(self, text: str) -> None:
        """Say something once."""

    def warn(self, text: str) -> None:
        """Say something that must not be missed."""
        self.note(f"warning: {text}")

    def start(self) -> None:  # noqa: B027 - silence keeps no time
        """Start the clock: all is compiled."""

    @abc.abstractmethod
    def update(self, step: int, mean_return: float | None) -> None:
        """Tell how far every seed is, and the newest mean return if there is one."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Leave the display as it is."""


class Silent(Progress):
    """Says nothing but warnings, and those as Python does."""

    def note(self, text: str) -> None:
        """Keep quiet."""

    def warn(self, text: str) -> None:
        """Leave it to Python's warnings."""
        warnings.warn(text, stacklevel=2)

    def update(self, step: int, mean_return: float | None) -> None:
        """Keep quiet."""


class Lines(Progress):
    """A line now and then: for logs, and where `rich` is not installed."""

    def __init__(self, seeds: int, steps: int, first_step: int) -> None:
        self._seeds, self._steps, self._first_step = seeds, steps, first_step
        self._told = first_step
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self._start = self._last = time.monotonic()

    def note(self, text: str) -> None:
        """Print it."""
        print(text, flush=True)

    def update(self, step: int, mean_return: float | None) -> None:
        """Print a line if the last one is some time ago or the end is reached."""
        now = time.monotonic()
        if step == self._told or (now - self._last < SECONDS_BETWEEN_LINES and step < self._steps):
            return
        self._last, self._told = now, step
        seconds = max(now - self._start, 1e-9)
        done = step - self._first_step
        left = seconds / max(done, 1) * (self._steps - step)
        print(
            f"step {step:,} of {self._steps:,}{_return_text(mean_return)} | "
            f"{self._seeds * done / seconds:,.0f} env steps/s | {left:.0f} s left",
            flush=True,
        )


class Bar(Progress):
    """A live progress bar by `rich`."""

    def __init__(self, seeds: int, steps: int, first_step: int) -> None:
        from rich import progress
        from rich.console import Console

        self._seeds, self._first_step = seeds, first_step
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}{task.fields[mean_return]}"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(elapsed_when_finished=False),
            console=Console(file=sys.stdout),
        )
        self._bar.start()
        self._task = self._bar.add_task(
            "compiling", total=steps, completed=first_step, rate="", mean_return=""
        )
        self._start = time.monotonic()

    def start(self) -> None:
        """Start the clock."""
        self._start = time.monotonic()
        self._bar.reset(self._task, description="steps", completed=self._first_step)

    def note(self, text: str) -> None:
        """Print it above the bar."""
        self._bar.console.print(text, highlight=False, markup=False)

    def update(self, step: int, mean_return: float | None) -> None:
        """Move the bar."""
        rate = self._seeds * (step - self._first_step) / (time.monotonic() - self._start)
        self._bar.update(
            self._task,
            description="steps",
            completed=step,
            rate=f"{rate:,.0f} env steps/s",
            mean_return=_return_text(mean_return),
        )

    def close(self) -> None:
        """Stop redrawing."""
        self._bar.stop()


def make_progress(shown: bool, seeds: int, steps: int, first_step: int) -> Progress:
    """A bar where one can be shown, else lines; nothing if it is not to be shown."""
    if not shown:
        return Silent()
    # In a notebook a bar needs ipywidgets.
    in_notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    if sys.stdout.isatty() or in_notebook:
        try:
            return Bar(seeds, steps, first_step)
        except ImportError:
            pass
    return Lines(seeds, steps, first_step)


def _return_text(mean_return: Any) -> str:
    return "" if mean_return is None else f" | mean return {mean_return:,.1f}"
