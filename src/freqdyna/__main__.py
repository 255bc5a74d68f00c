"""The start of the command `freqdyna`, also as `python -m freqdyna`."""

import sys
from pathlib import Path


def main() -> None:
    """Run the command; an interruption is one line, also while modules are imported."""
    try:
        from freqdyna.cli.main import main as command

        command()
    except KeyboardInterrupt:
        print("freqdyna: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    # `python -m` makes the current folder importable, which the command `freqdyna` does not; see
    # `core.plugins`. It stays if this package was found there.
    if sys.path[:1] == [str(Path.cwd())] != [str(Path(__file__).parents[1])]:
        del sys.path[0]
    main()
