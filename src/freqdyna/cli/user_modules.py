"""The user's own modules in the current folder, for names such as `--search-control module:Class`.

The current folder is importable only while a command uses names that the user typed or allowed:
a folder that came from somebody else may contain a module with any name, including names that other
packages try to import.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def current_folder_on_path(wanted: bool) -> Iterator[None]:
    """Let Python import from the current folder while a command runs, if `wanted`.

    Worker processes inherit it.
    """
    if not wanted or "" in sys.path:
        yield
        return
    sys.path.append("")  # last: a module there must not replace one that is installed
    try:
        yield
    finally:
        sys.path.remove("")
