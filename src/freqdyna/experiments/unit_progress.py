"""Progress of a unit of work: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any

from freqdyna.training.progress import SECONDS_BETWEEN_LINES


class Watch:
    """Shows what a unit reports; nothing until it reports for the first time."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None
        self._task: Any = None
        self._start = self._last = time.monotonic()
        self._first: int | None = None

    def report(self, done: int, total: int) -> None:
        """Show that `done` of `total` is done."""
        if sys.stdout.isatty():
            self._show_bar(done, total)
            return
        now = time.monotonic()
        if self._first is None:  # what came before was compilation, or an earlier process
            self._first, self._start = done, now
        if now - self._last >= SECONDS_BETWEEN_LINES or done == total:
            left = (now - self._start) / max(done - self._first, 1) * (total - done)
            told = f" | {left:.0f} s left" if done > self._first else ""
            print(f"{self._title}: {done:,} of {total:,}{told}", flush=True)
            self._last = now

    def _show_bar(self, done: int, total: int) -> None:
        from rich import progress

        if self._bar is None:
            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left"),
                progress.TimeRemainingColumn(),
            )
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=total)
        self._bar.update(self._task, completed=done)

    def close(self) -> None:
        """Stop redrawing."""
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
