"""The start of the command `freqdyna`, also as `python -m freqdyna`."""

import atexit
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the command; an interruption is one line, also while modules are imported."""
    failed: list[int] = []
    # Registered before all others, so that it is called after them.
    atexit.register(_end_at_once, failed)
    signal.signal(signal.SIGINT, _interrupted_import)
    from freqdyna.cli.main import main as command

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code:
            failed.append(end.code)
        raise
    finally:
        # All is done; Ctrl-C would print a traceback while the interpreter shuts down.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupted_import(number: int, frame: Any) -> None:
    """End the process; an exception would end as a traceback where an import cannot pass it on."""
    os.write(2, b"freqdyna: interrupted\n")
    os._exit(130)


def _end_at_once(failed: list[int]) -> None:
    """End a command that failed: XLA crashes if the process ends while a thread still compiles."""
    if failed:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # the reader of the output has closed it
                stream.flush()
        os._exit(failed[0])


if __name__ == "__main__":
    # `python -m` makes the current folder importable, which the command `freqdyna` does not; see
    # `core.plugins`. It stays if this package was found there.
    if sys.path[:1] == [str(Path.cwd())] != [str(Path(__file__).parents[1])]:
        del sys.path[0]
    main()
