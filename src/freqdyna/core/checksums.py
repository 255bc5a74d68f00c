"""Checksums inside text files: a first comment in TOML, a last entry in JSON.

Texts without a checksum, which version 0.1 wrote, are accepted.
"""

import hashlib
import json
from typing import Any

from freqdyna.core.errors import DamagedFileError

_COMMENT = "# Compared when the results are read, the SHA-256 of the lines below: "
_ENTRY, _PREFIX = "checksum", "sha256:"


def toml_with_checksum(text: str) -> str:
    """The lines of a TOML file after a comment with their checksum, which replaces any.

    It is the first line, so that a file that lost its end does not pass for one without a checksum.
    """
    if text.startswith(_COMMENT):
        text = text.partition("\n")[2]
    text += "" if text.endswith("\n") else "\n"
    return f"{_COMMENT}{_sha256(text)}\n{text}"


def check_toml(text: str) -> bool:
    """Compare the checksum of a TOML file, if it has one.

    Returns:
        Whether it has one.

    Raises:
        DamagedFileError: If it does not match, or if nothing is left but a part of its comment.

    """
    if _COMMENT.startswith(text):
        raise DamagedFileError("it is empty or cut off")
    if _COMMENT not in text:
        return False
    checksum, _, below = text.partition("\n")
    if checksum != f"{_COMMENT}{_sha256(below)}":
        raise DamagedFileError("its checksum does not match")
    return True


def json_with_checksum(facts: dict[str, Any]) -> str:
    """A JSON object as text, with a last entry that has its checksum."""
    checksum = _PREFIX + _sha256(_json(facts))
    return _json(facts | {_ENTRY: checksum}) + "\n"


def json_without_checksum(text: bytes) -> dict[str, Any]:
    """The JSON object in a text, after comparing its checksum, if it has one.

    Raises:
        DamagedFileError: If it is not a JSON object, or the checksum does not match.

    """
    try:
        facts = json.loads(text)
        if not isinstance(facts, dict):
            raise DamagedFileError("it is not a JSON object")
        # Recognised by its name and by its prefix, only one of which can be damaged by one bit.
        if any(name == _ENTRY or str(v).startswith(_PREFIX) for name, v in facts.items()):
            checksum = facts.pop(_ENTRY, None)
            if checksum != _PREFIX + _sha256(_json(facts)):
                raise DamagedFileError("its checksum does not match")
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"it is not JSON: {error}") from None
    return facts


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, indent=2)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
