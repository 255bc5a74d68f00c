"""Bad input, refused in one sentence that names the field, the value and what is allowed."""

from collections.abc import Iterable
from difflib import SequenceMatcher


class FreqdynaError(Exception):
    """Something the user gave cannot be used; the message is one sentence for them."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> FreqdynaError:
    """Refuse `name`, listing the known names with the nearest first."""

    def likeness(candidate: str) -> float:
        return SequenceMatcher(None, name.lower(), candidate.lower()).ratio()

    listed = ", ".join(sorted(known, key=likeness, reverse=True))
    return FreqdynaError(f"unknown {kind} {name!r}; known, nearest first: {listed}")


def installing(extra: str) -> str:
    """How to get what an extra of the package brings."""
    return f"pip install '.[{extra}]' in a clone of freqdyna"
