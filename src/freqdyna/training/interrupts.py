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
    """Let SIGTERM and SIGHUP interrupt a command as Ctrl-C does, so that it can save its work.

    None of them interrupts an import, or JAX while it finds its devices, which is over soon.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    main_thread = threading.get_ident()
    postponed = 0

    def send_again(number: int) -> None:
        again = threading.Timer(0.05, signal.pthread_kill, (main_thread, number))
        again.daemon = True
        again.start()

    def interrupt(number: int, frame: Any) -> None:
        nonlocal postponed
        if postponed < _LONGEST_WAIT / 0.05 and _is_starting(frame):
            # Some modules print an exception that is raised while they are imported, and continue,
            # as does JAX for the exception of a plugin for accelerators.
            postponed += 1
            send_again(number)
            return
        # Work is being saved: another SIGHUP is ignored, another SIGTERM ends the process.
        if number != signal.SIGINT:
            ends = number == signal.SIGTERM
            signal.signal(number, signal.SIG_DFL if ends else signal.SIG_IGN)
        raise KeyboardInterrupt

    def interrupt_again(lost: Any) -> None:
        # An exception cannot leave a callback of the garbage collector, such as JAX's.
        if issubclass(lost.exc_type, KeyboardInterrupt):
            send_again(signal.SIGINT)
        else:
            report(lost)

    signals = (signal.SIGTERM, *_hangup())
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signals = (signal.SIGINT, *signals)
    before, report = _handled(signals), sys.unraisablehook
    sys.unraisablehook = interrupt_again
    for s in before:
        signal.signal(s, interrupt)
    try:
        yield
    finally:
        _restore(before)
        sys.unraisablehook = report


_LONGEST_WAIT = 10.0
"""Seconds after which an import, or JAX's search for devices, is interrupted."""


def _is_starting(frame: Any) -> bool:
    """Whether a module is being imported, or JAX finds its devices."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        if frame.f_globals.get("__name__") == "jax._src.xla_bridge":
            return True
        frame = frame.f_back
    return False


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
