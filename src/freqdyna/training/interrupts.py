"""Signals: a run that can be resumed saves its state before it stops."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_HANGUP = getattr(signal, "SIGHUP", None)
"""What a closed terminal sends, perhaps more than once; it does not exist on Windows."""


class InterruptedRun(KeyboardInterrupt):
    """The run was interrupted and has saved its state."""


@contextmanager
def stop_requests(can_be_resumed: bool) -> Iterator[threading.Event]:
    """Let SIGINT, SIGTERM and SIGHUP set an event; a second SIGINT or SIGTERM ends the run at once.

    Nothing changes for a run that has no folder to save its state in.
    """
    requested = threading.Event()

    def request(number: int, frame: Any) -> None:
        if requested.is_set() and number != _HANGUP:
            raise KeyboardInterrupt
        requested.set()

    with _handled_by(request, signal.SIGINT, signal.SIGTERM, enabled=can_be_resumed):
        yield requested


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt a command as Ctrl-C does, so that it can save its work."""

    def interrupt(number: int, frame: Any) -> None:
        if number == _HANGUP:
            signal.signal(number, signal.SIG_IGN)  # the work is being saved
        raise KeyboardInterrupt

    with _handled_by(interrupt, signal.SIGTERM):
        yield


@contextmanager
def _handled_by(
    handler: Callable[[int, Any], None], *signals: signal.Signals, enabled: bool = True
) -> Iterator[None]:
    """Handle signals and SIGHUP, except those that are ignored, as SIGHUP is with `nohup`."""
    if not enabled or threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (*signals, *([_HANGUP] if _HANGUP else []))
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in numbers}
    for number, usual in before.items():
        if usual is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
