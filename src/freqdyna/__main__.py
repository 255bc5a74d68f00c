"""Makes `python -m freqdyna` run the command `freqdyna`."""

import sys
from pathlib import Path

# `python -m` makes the current folder importable, which the command `freqdyna` does not; see
# `cli.user_modules`. It stays if this package was found there.
_here = str(Path.cwd())
if sys.path[:1] == [_here] != [str(Path(__file__).parents[1])]:
    del sys.path[0]

from freqdyna.cli.main import main  # noqa: E402

main()
