"""The command line: `freqdyna train`, `resume`, `plot`, `reproduce` and so on."""

import os
import sys
from typing import Annotated, Any

import tyro

from freqdyna.cli.bench.command import Bench
from freqdyna.cli.listing import ListNames
from freqdyna.cli.plot import Plot
from freqdyna.cli.report import WriteReport
from freqdyna.cli.reproduce import Reproduce
from freqdyna.cli.sweep import RunSweep, ShowStatus
from freqdyna.cli.train import Resume, Train, train_defaults
from freqdyna.cli.watch import WatchPolicy
from freqdyna.core.errors import FreqdynaError


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with status 2 on invalid input and 130 if interrupted.

    Args:
        arguments: The arguments after the program name; None for those of this process.

    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        _parse(given).run()
        sys.stdout.flush()
    except FreqdynaError as error:
        print(f"freqdyna: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        print(f"freqdyna: {interrupt or 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of the output, such as `head`, has closed it. The rest is discarded, because
        # Python would otherwise print another error when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(arguments: list[str]) -> Any:
    """The command that the arguments select."""
    subcommand = tyro.conf.subcommand
    commands = (
        Annotated[Train, subcommand("train", default=train_defaults(arguments))]
        | Annotated[Resume, subcommand("resume")]
        | Annotated[Plot, subcommand("plot")]
        | Annotated[WatchPolicy, subcommand("watch")]
        | Annotated[ListNames, subcommand("list")]
        | Annotated[Reproduce, subcommand("reproduce")]
        | Annotated[Bench, subcommand("bench")]
        | Annotated[WriteReport, subcommand("report")]
        | Annotated[RunSweep, subcommand("sweep")]
        | Annotated[ShowStatus, subcommand("status")]
    )
    return tyro.cli(
        commands,
        prog="freqdyna",
        description="Search-control in Dyna, for many seeds at once.",
        args=arguments or ["--help"],
    )
