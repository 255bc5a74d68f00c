"""Errors about invalid input: one sentence with the field, the value and what is allowed.

An error in a user's code keeps its class and its traceback; `note_where` adds the contract.
"""

import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path

MOST_NAMES = 8
"""Names in a message; of more, only the nearest are listed."""
LONGEST = 200
"""Characters of a value in a message; longer ones are shortened."""


class FreqdynaError(Exception):
    """Invalid input or unusable files; the message is one sentence for the user."""


class RunFailedError(FreqdynaError):
    """A run that could not be finished or saved, such as on a full disk; exit status 1."""


class DamagedFileError(FreqdynaError):
    """A file that is damaged, or not what it should be."""


@contextmanager
def note_where(contract: str) -> Iterator[None]:
    """Add to an error in the user's code which method it comes from, and what that must do."""
    try:
        yield
    except FreqdynaError:
        raise
    except Exception as error:
        error.add_note(contract)
        raise


def unknown_name(kind: str, name: str, known: Iterable[str]) -> FreqdynaError:
    """The error for a name that is not known; the message lists the most similar ones first."""
    begin = name[:LONGEST].lower()
    ratios = {one: SequenceMatcher(None, begin, one.lower()).ratio() for one in known}
    # What ends like the name comes first: learner.hidden, if somebody writes hidden.
    order = sorted(ratios, key=lambda one: (not one.endswith(f".{begin}"), -ratios[one]))
    listed = ", ".join(order[:MOST_NAMES]) + (", ..." if len(order) > MOST_NAMES else "")
    return FreqdynaError(f"unknown {kind} {shortened(name)}; known, nearest first: {listed}")


def shortened(value: object) -> str:
    """The representation of a value for a message, cut off if it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def counted(number: int, noun: str) -> str:
    """A number and what it counts, such as "1 seed" or "2,000 seeds"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def one_line(error: BaseException) -> str:
    """An error in one line: its type, unless it is ours, and the first line of its message."""
    lines = str(error).strip().splitlines()
    if isinstance(error, FreqdynaError) and lines:
        return lines[0]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def raised_line(error: BaseException) -> str:
    """Where an error was raised, such as "my_env.py, line 7", for a run that goes on."""
    package = Path(__file__).parents[1]
    raised_in = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in raised_in if package not in Path(frame.filename).parents]
    if not frames:
        return "when it was called"
    # All frames are of installed packages if the environment is one itself.
    frame = ([f for f in frames if "site-packages" not in f.filename] or frames)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}"


def installing(extra: str) -> str:
    """The command that installs an extra of the package, for messages."""
    python, folder = Path(sys.executable), Path.cwd()
    shown = python.relative_to(folder) if python.is_relative_to(folder) else python
    return f"{shown} -m pip install '.[{extra}]' in a clone of freqdyna"
