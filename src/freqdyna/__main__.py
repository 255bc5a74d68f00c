"""The start of the command `freqdyna`, also as `python -m freqdyna`."""

import sys
from pathlib import Path


def main() -> None:
    """Run the command; Ctrl-C is one line even while modules are imported."""
    try:
        from freqdyna.cli.main import main as command
    except KeyboardInterrupt:
        print("freqdyna: interrupted", file=sys.stderr)
        sys.exit(130)
    command()


if __name__ == "__main__":
    # `python -m` makes the current folder importable, which the command `freqdyna` does not; see
    # `cli.user_modules`. It stays if this package was found there.
    if sys.path[:1] == [str(Path.cwd())] != [str(Path(__file__).parents[1])]:
        del sys.path[0]
    main()
