"""Graceful interruption: on a signal, a run saves its state before it stops."""

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class InterruptedRun(KeyboardInterrupt):
    """The run was interrupted and has saved its state."""


@contextmanager
def stop_requests(can_be_resumed: bool) -> Iterator[threading.Event]:
    """Turn SIGINT, SIGTERM and SIGHUP into a request to stop after the current slice.

    A second signal stops immediately, as does the first one if the run cannot be resumed. SIGHUP,
    which a closed terminal may send more than once, is never more than a request.

    Args:
        can_be_resumed: Whether the run has a folder to save its state in.

    Yields:
        An event that is set when a signal arrives.

    """
    requested = threading.Event()
    if not can_be_resumed or threading.current_thread() is not threading.main_thread():
        yield requested
        return

    def request(number: int, frame: Any) -> None:
        requested.set()
        for s in (signal.SIGINT, signal.SIGTERM):
            signal.signal(s, before[s])

    before = _handled((signal.SIGINT, signal.SIGTERM, *_hangup()))
    for s in before:
        signal.signal(s, request)
    try:
        yield requested
    finally:
        _restore(before)


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt a command as Ctrl-C does, so that it can save its work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        # Work is being saved: another SIGHUP is ignored, another SIGTERM ends the process.
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)
        raise KeyboardInterrupt

    def interrupt_again(lost: Any) -> None:
        # An exception cannot leave a callback of the garbage collector, such as JAX's.
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(0.05, signal.pthread_kill, (main_thread, signal.SIGINT))
            again.daemon = True
            again.start()
        else:
            report(lost)

    main_thread = threading.get_ident()
    before, report = _handled((signal.SIGTERM, *_hangup())), sys.unraisablehook
    sys.unraisablehook = interrupt_again
    for s in before:
        signal.signal(s, interrupt)
    try:
        yield
    finally:
        _restore(before)
        sys.unraisablehook = report


def _hangup() -> tuple[signal.Signals, ...]:
    """SIGHUP, which a closed terminal sends; nothing if it is ignored, as with `nohup`."""
    if not hasattr(signal, "SIGHUP") or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return ()
    return (signal.SIGHUP,)


def _handled(signals: Iterable[signal.Signals]) -> dict[signal.Signals, Any]:
    """The current handler of each signal."""
    # None stands for a handler that was not set in Python and cannot be set again.
    return {s: signal.getsignal(s) or signal.SIG_DFL for s in signals}


def _restore(handlers: dict[signal.Signals, Any]) -> None:
    for s, handler in handlers.items():
        signal.signal(s, handler)
