"""TOML files, which may come from somebody else and be made to do harm."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError

LARGEST = 100_000
"""Characters; a file of settings has a few thousand."""
_DEEPEST = 100
"""The maximum number of dots in a key: the time to parse one grows with its square."""


def read_text(path: Path, kind: str) -> str:
    """The text of a file.

    Args:
        path: The file; a device or a named pipe, which may never end, is refused.
        kind: What the file is, for error messages, such as "configuration file".

    """
    try:
        if not path.is_file():
            missing = f"no {kind} at {path}"
            other = f"{path} cannot be read: it is not a regular file"
            raise FreqdynaError(other if path.exists() else missing)
        with open(path, encoding="utf-8") as file:
            return file.read(LARGEST + 1)
    except UnicodeDecodeError as error:
        raise FreqdynaError(f"{path} is not a TOML file: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL character
        raise FreqdynaError(f"{str(path)!r} cannot be read: {error}") from None


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        text: The text of the file.
        file: The name of the file, for error messages.

    """
    if len(text) > LARGEST:
        raise FreqdynaError(f"{file} has more than {LARGEST:,} characters; no setting needs that")
    if any(part.count(".") > _DEEPEST for part in re.split(r"[,=\n]", text)):
        raise FreqdynaError(f"{file} is nested too deeply; no setting needs that")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FreqdynaError(f"{file} is not a TOML file: {error}") from None
    except RecursionError:
        raise FreqdynaError(f"{file} is nested too deeply; no setting needs that") from None
    except ValueError:  # Python does not convert integers with that many digits
        raise FreqdynaError(
            f"{file} has a number with thousands of digits; no setting needs that"
        ) from None


def toml_value(value: object) -> str:
    """A string, a number, a Boolean or a tuple of them as TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)  # strings and integers have the same form in TOML and JSON
