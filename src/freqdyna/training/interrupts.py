"""Graceful interruption: on a signal, a run saves its state before it stops."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class InterruptedRun(KeyboardInterrupt):
    """The run was interrupted and has saved its state."""


@contextmanager
def stop_requests(can_be_resumed: bool) -> Iterator[threading.Event]:
    """Turn SIGINT and SIGTERM into a request to stop after the current slice.

    A second signal stops immediately, as does the first one if the run cannot be resumed.

    Args:
        can_be_resumed: Whether the run has a folder to save its state in.

    Yields:
        An event that is set when a signal arrives.

    """
    requested = threading.Event()
    if not can_be_resumed or threading.current_thread() is not threading.main_thread():
        yield requested
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {s: signal.getsignal(s) for s in signals}

    def restore() -> None:
        for s, handler in before.items():
            signal.signal(s, handler)

    def request(number: int, frame: Any) -> None:
        requested.set()
        restore()

    for s in signals:
        signal.signal(s, request)
    try:
        yield requested
    finally:
        restore()
