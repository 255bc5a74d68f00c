"""Descriptions of objects as text, for checking later whether another object is the same."""

import dataclasses
import re
from typing import Any

import equinox as eqx


def describe(value: Any) -> str:
    """The class of a dataclass instance and the value of every field."""
    values = [f"{f.name}={getattr(value, f.name)!r}" for f in dataclasses.fields(value)]
    return f"{type(value).__name__}({', '.join(values)})"


def matches(value: Any, text: object) -> bool:
    """Whether `text` describes `value`, even if an older version of its class wrote it.

    A field that is not in the text must have its default value; if it has no default, it did not
    exist when the text was written, and may have any value.

    Args:
        value: An instance of a dataclass.
        text: What `describe` or `repr` returned for an object.

    """
    named = _named_values(str(text))
    if named is None or named[0] != type(value).__name__:
        return False
    texts, fields = named[1], dataclasses.fields(value)
    if not set(texts) <= {field.name for field in fields}:
        return False
    for field in fields:
        own = getattr(value, field.name)
        if field.name not in texts:
            same = _is_default(own, field)
        elif dataclasses.is_dataclass(own):
            same = matches(own, texts[field.name])
        else:
            ways = (repr(own), eqx.tree_pformat(own))  # Equinox formats arrays as their shapes
            same = _joined(texts[field.name]) in map(_joined, ways)
        if not same:
            return False
    return True


def _joined(text: str) -> str:
    """The text without spaces and line breaks, which depend on the width of the whole text."""
    return "".join(text.split())


def _named_values(text: str) -> tuple[str, dict[str, str]] | None:
    """The class and the fields in a text such as `Wall(left=0.2, hole=(0.4, 0.5))`.

    Values may have any form, such as that of an array, and need not be valid Python.
    """
    found = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text, re.DOTALL)
    if found is None:
        return None
    parts, depth, quote, escaped = [""], 0, "", False
    for sign in found[2]:
        if sign == "," and not depth and not quote:
            parts.append("")
            continue
        parts[-1] += sign
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = sign == "\\" and not escaped
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign in "([{") - (sign in ")]}")
    pairs = [part.split("=", 1) for part in parts if part.strip()]
    if any(len(pair) != 2 for pair in pairs):
        return None
    return found[1], {name.strip(): value for name, value in pairs}


def _is_default(value: Any, field: "dataclasses.Field[Any]") -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value is field.default or repr(value) == repr(field.default))
    if field.default_factory is not dataclasses.MISSING:
        return repr(value) == repr(field.default_factory())
    return True
