"""Where in a user's class an error comes from, for messages of one sentence."""

import inspect
import traceback
from pathlib import Path

from freqdyna.core.errors import one_line


def failure_of(error: BaseException, user_class: type, method: str) -> str:
    """Where and why a method of a user's class fails: "query (my.py, line 7): ValueError: no".

    Args:
        error: What was raised while the method was called, or about what it returned.
        user_class: The class.
        method: The name of its method.

    """
    reason = "it calls sys.exit" if isinstance(error, SystemExit) else one_line(error)
    code = getattr(inspect.unwrap(getattr(user_class, method)), "__code__", None)
    if code is None:
        return f"{method}: {reason}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == code.co_filename]
    line = (lines and lines[-1]) or code.co_firstlineno  # the first if what it returned is refused
    return f"{method} ({_shown(code.co_filename)}, line {line}): {reason}"


def imported_line(error: BaseException) -> str:
    """Where an imported module raised an error: " (my.py, line 7)"; empty if it was not found."""
    frames = traceback.extract_tb(error.__traceback__)
    # Before the module's own lines come those of whoever imports it, and of the import system.
    own = [frame for frame in frames[1:] if Path(frame.filename).parent.name != "importlib"]
    own = [frame for frame in own if not frame.filename.startswith("<")]
    return f" ({_shown(own[-1].filename)}, line {own[-1].lineno})" if own else ""


def _shown(file: str) -> str:
    """A path from the current folder, if the file is in it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
