"""Descriptions of objects as text, for checking later whether another object is the same."""

import dataclasses
import functools
import re
from typing import Any

import equinox as eqx

_ADDRESS = re.compile("0x[0-9a-fA-F]{6,}")
"""A memory address in the `repr` of an object, which is another one in every process."""


def describe(value: Any) -> str:
    """The class of a dataclass instance and the value of every field.

    It is the same in every process: functions are described by their module and qualified name,
    and other objects whose `repr` has a memory address by their class.
    """
    values = [f"{f.name}={_text(getattr(value, f.name))}" for f in dataclasses.fields(value)]
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
        text = texts.get(field.name)
        if not (_is_default(own, field) if text is None else _same(own, text)):
            return False
    return True


def _same(value: Any, text: str) -> bool:
    """Whether `text` describes the value of a field."""
    if _is_dataclass_instance(value):
        return matches(value, text)
    if type(value) in (tuple, list) and any(map(_is_dataclass_instance, value)):
        # Equinox omits fields that are their defaults, also those of modules in a tuple.
        parts = [part for part in _separated(text.strip()[1:-1]) if part.strip()]
        return len(parts) == len(value) and all(map(_same, value, parts))
    # Equinox formats arrays as their shapes; earlier versions wrote addresses.
    ways = (_text(value), repr(value), eqx.tree_pformat(value))
    return _joined(text) in map(_joined, ways)


def _text(value: Any) -> str:
    """The `repr` of a value, without anything that is another one in every process."""
    kind = type(value)
    if kind in (tuple, list):
        items = ", ".join(map(_text, value))
        return f"[{items}]" if kind is list else f"({items}{',' * (len(value) == 1)})"
    if kind is dict:
        return f"{{{', '.join(f'{_text(k)}: {_text(v)}' for k, v in value.items())}}}"
    if kind in (set, frozenset) and value:  # their order is that of hashes
        items = f"{{{', '.join(sorted(map(_text, value)))}}}"
        return items if kind is set else f"frozenset({items})"
    text = repr(value)
    if isinstance(value, str | bytes) or not _ADDRESS.search(text):
        return text
    if isinstance(value, functools.partial):
        named = [f"{name}={_text(given)}" for name, given in value.keywords.items()]
        return f"{_full_name(kind)}({', '.join([*map(_text, (value.func, *value.args)), *named])})"
    if _is_dataclass_instance(value):
        return describe(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        named = [f"{name}={_text(item)}" for name, item in value._asdict().items()]
        return f"{kind.__name__}({', '.join(named)})"
    owner = getattr(value, "__self__", None)
    if owner is not None:
        return f"<method {value.__name__} of {_text(owner)}>"
    name = _full_name(value) if callable(value) else None
    return f"<function {name}>" if name else f"<{_full_name(kind)} object>"


def _full_name(value: Any) -> str | None:
    """The module and the qualified name of a class or function; None if it has no name."""
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if isinstance(name, str) else None


def _is_dataclass_instance(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _joined(text: str) -> str:
    """The text without memory addresses, and without line breaks, which depend on its width."""
    return "".join(_ADDRESS.sub("0x", text).split())


def _named_values(text: str) -> tuple[str, dict[str, str]] | None:
    """The class and the fields in a text such as `Wall(left=0.2, hole=(0.4, 0.5))`.

    Values may have any form, such as that of an array, and need not be valid Python.
    """
    found = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text, re.DOTALL)
    if found is None:
        return None
    pairs = [part.split("=", 1) for part in _separated(found[2]) if part.strip()]
    if any(len(pair) != 2 for pair in pairs):
        return None
    return found[1], {name.strip(): value for name, value in pairs}


def _separated(text: str) -> list[str]:
    """The parts of a text between commas, except for commas in brackets and strings."""
    parts, depth, quote, escaped = [""], 0, "", False
    for sign in text:
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
    return parts


def _is_default(value: Any, field: "dataclasses.Field[Any]") -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value is field.default or _text(value) == _text(field.default))
    if field.default_factory is not dataclasses.MISSING:
        return _text(value) == _text(field.default_factory())
    return True
