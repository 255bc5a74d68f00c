"""The command line: `freqdyna train`, `resume`, `plot` and so on."""

import io
import logging
import os
import sys
import traceback
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import tyro

from freqdyna.cli import results
from freqdyna.cli.sweep import RunSweep, ShowStatus
from freqdyna.cli.train import Resume, Train, train_command
from freqdyna.core.errors import FreqdynaError, RunFailedError
from freqdyna.training.interrupts import signals_as_interrupts

FAILED, INVALID, INTERRUPTED = 1, 2, 130
"""Exit statuses: a command that failed while it ran, invalid input, and an interruption."""
DEBUG = "--debug"
COMMANDS: dict[str, Any] = {
    "resume": Resume,
    "plot": results.Plot,
    "compare": results.Compare,
    "import": results.ImportCurves,
    "watch": results.WatchPolicy,
    "export": results.ExportPolicy,
    "list": results.ListNames,
    "report": results.WriteReport,
    "sweep": RunSweep,
    "status": ShowStatus,
}
"""All commands but `train`, whose options depend on the chosen components."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line with some arguments, or with those of this process.

    Invalid input is answered with one sentence; an error in the user's own code with its traceback.
    With --debug anywhere among the arguments, every error has its traceback.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["--version"]:
        from importlib import metadata

        print(f"freqdyna {metadata.version('freqdyna')}")
        return
    debug = DEBUG in arguments
    # JAX logs the traceback of a callback that fails; the sentence has its last line.
    logging.getLogger("jax._src.callback").disabled = not debug
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # print what a terminal cannot show as escapes
            stream.reconfigure(errors="backslashreplace")
    try:
        with signals_as_interrupts():
            _parse([argument for argument in arguments if argument != DEBUG]).run()
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has closed it. The rest is discarded, because
        # Python would otherwise print another error when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as interrupt:
        _exit(INTERRUPTED, str(interrupt) or "interrupted")
    except FreqdynaError as error:
        if debug:
            traceback.print_exc()
        _exit(FAILED if isinstance(error, RunFailedError) else INVALID, str(error))
    except Exception as error:
        in_users_code = bool(getattr(error, "__notes__", None))
        if isinstance(error, OSError) and not in_users_code and not debug:
            _exit(FAILED, str(error))
        traceback.print_exc()
        sys.exit(FAILED)


def _exit(status: int, text: str) -> NoReturn:
    """Print one sentence and exit."""
    with suppress(OSError):  # the terminal may be closed
        print(f"freqdyna: {' '.join(text.splitlines())}", file=sys.stderr)
    sys.exit(status)


def _parse(arguments: list[str]) -> Any:
    """The command that the arguments select."""
    train: Any = Train()
    if arguments[:1] == ["train"]:
        train, rest = train_command(arguments[1:])
        arguments = ["train", *rest]
    kind: Any = type(train)
    commands: Any = Annotated[kind, tyro.conf.subcommand("train", default=train)]
    for name, command in COMMANDS.items():
        commands |= Annotated[command, tyro.conf.subcommand(name)]
    return tyro.cli(
        commands,
        prog="freqdyna",
        description="Search-control in Dyna, for many seeds at once. With --debug, a command that "
        "fails prints a traceback as well; --version prints the version.",
        args=arguments or ["--help"],
    )
