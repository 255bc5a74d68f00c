"""The command line, one file per command."""

from freqdyna.cli.main import main

__all__ = ["main"]
