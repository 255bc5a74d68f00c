"""Calling a user's class, and where in it an error comes from, for messages of one sentence."""

import inspect
import re
import sysconfig
import traceback
from itertools import pairwise
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError, one_line

_THIS_PACKAGE = Path(__file__).parents[1]
_INSTALLED = ("site-packages", "dist-packages")
_BETWEEN = ("equinox", "gymnasium", "jax", "jaxlib", "numpy")
"""Packages that call the user's code, or are called by all of it."""
_FRAME = re.compile(r'\s*File "(.+)", line (\d+)')


def created(user_class: Any, base: type, told: str, *arguments: Any) -> Any:
    """What the method `from_config` of a user's class creates.

    Args:
        user_class: The class.
        base: What it creates must be an instance of this.
        told: What names the class in messages: "model is 'my:Model'".
        *arguments: The arguments of `from_config`.

    Raises:
        FreqdynaError: If it fails or creates something else; the message has the file and the line.

    """
    try:
        made = user_class.from_config(*arguments)
    except FreqdynaError:
        raise
    except (Exception, SystemExit) as error:  # a user's class may lack a method or a default
        failed = failure_of(error, user_class, "from_config")
        if _is_inherited(user_class, "from_config") and _needs_arguments(user_class):
            failed += "; define from_config in the class, or give its arguments defaults"
        raise FreqdynaError(f"{told}, which cannot be created by {failed}") from error
    if not isinstance(made, base):
        raise FreqdynaError(
            f"{told}, whose from_config returned {type(made).__name__}; it must be a "
            f"{base.__name__}"
        )
    return made


def failure_of(error: BaseException, user_class: type, method: str) -> str:
    """Where and why a method of a user's class fails: "query (my.py, line 7): ValueError: no".

    Args:
        error: What was raised while the method was called, or about what it returned.
        user_class: The class.
        method: The name of its method. If the class inherits it from this package, the place is the
            last line of the class's file that was executed, or the first line of the class.

    """
    reason = "it calls sys.exit" if isinstance(error, SystemExit) else one_line(error)
    code = getattr(inspect.unwrap(getattr(user_class, method)), "__code__", None)
    if code is not None and not _is_inherited(user_class, method):
        file, first = code.co_filename, code.co_firstlineno
    else:
        try:
            file, first = inspect.getfile(user_class), inspect.getsourcelines(user_class)[1]
        except (OSError, TypeError):  # it was typed in an interpreter, for example
            return f"{method}: {reason}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    line = (lines and lines[-1]) or first  # the first if what it returned is refused
    return f"{method} ({_shown(file)}, line {line}): {reason}"


def user_line(error: BaseException) -> str:
    """Where the user's code raised an error: " (my.py, line 7)"; empty if it is not found."""
    frames = traceback.extract_tb(error.__traceback__)
    return _told(_last_of_user([(frame.filename, frame.lineno or 0) for frame in frames]))


def callback_failure(error: BaseException) -> tuple[str, str] | None:
    """Where and why a callback of a compiled program failed; None if the error is another one.

    The program passes on only the text of the traceback.

    Returns:
        The file, or "" if it is not found, and the failure: " (my.py, line 7): ValueError: no".

    """
    lines = str(error).splitlines()
    matches = {i: match for i, line in enumerate(lines) if (match := _FRAME.match(line))}
    if not matches:
        return None
    place = _last_of_user([(match[1], int(match[2])) for match in matches.values()])
    after = lines[max(matches) + 1 :]
    reason = next((line for line in after if line and not line[0].isspace()), "no reason is given")
    return place[0] if place else "", f"{_told(place)}: {reason}"


def imported_line(error: BaseException) -> str:
    """Where an imported module raised an error: " (my.py, line 7)"; empty if it was not found."""
    frames = traceback.extract_tb(error.__traceback__)
    # Before the module's own lines come those of whoever imports it, and of the import system.
    own = [frame for frame in frames[1:] if Path(frame.filename).parent.name != "importlib"]
    own = [frame for frame in own if not frame.filename.startswith("<")]
    return f" ({_shown(own[-1].filename)}, line {own[-1].lineno})" if own else ""


def _is_inherited(user_class: type, method: str) -> bool:
    """Whether a class that is not of this package has a method of this package."""
    package = __name__.partition(".")[0]
    found = inspect.unwrap(getattr(user_class, method))
    modules = user_class.__module__, getattr(found, "__module__", None) or ""
    own, of_method = (module.partition(".")[0] == package for module in modules)
    return of_method and not own


def _needs_arguments(user_class: Any) -> bool:
    """Whether an instance of a class cannot be created without arguments."""
    try:
        inspect.signature(user_class.__init__).bind(None)
    except TypeError:
        return not inspect.isabstract(user_class)
    return False


def _last_of_user(frames: list[tuple[str, int]]) -> tuple[str, int] | None:
    """The last file and line of the user's code; None if there is none."""
    likely = [_is_likely_users(file) for file, _ in frames]
    best = max(likely, default=0)
    of_user = [frame for frame, found in zip(frames, likely, strict=True) if found == best]
    return of_user[-1] if best else None


def _is_likely_users(file: str) -> int:
    """0 if a file is not the user's, 1 if it is in an installed package, which may be, else 2."""
    path, parts = Path(file), Path(file).parts
    if file.startswith("<") or path.is_relative_to(_THIS_PACKAGE):
        return 0
    for folder, package in pairwise(parts):
        if folder in _INSTALLED:
            return int(package not in _BETWEEN)
    return 0 if path.is_relative_to(sysconfig.get_path("stdlib")) else 2


def _told(place: tuple[str, int] | None) -> str:
    return f" ({_shown(place[0])}, line {place[1]})" if place else ""


def _shown(file: str) -> str:
    """A path from the current folder, if the file is in it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
