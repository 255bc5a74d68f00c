"""Objects described in text, to tell later whether another object is the same."""

import ast
import dataclasses
from typing import Any


def describe(value: Any) -> str:
    """The class of a dataclass instance and the value of every field."""
    values = [f"{f.name}={getattr(value, f.name)!r}" for f in dataclasses.fields(value)]
    return f"{type(value).__name__}({', '.join(values)})"


def matches(value: Any, text: object) -> bool:
    """Whether `text` describes `value`, also where an older version of its class wrote it.

    A field that the text does not name must have its default; one without a default did not exist
    when the text was written, and may be anything.

    Args:
        value: An instance of a dataclass.
        text: What `describe` or `repr` said of some object.

    """
    try:
        return _matches(value, ast.parse(str(text), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # not every object's text can be read


def _matches(value: Any, node: ast.expr) -> bool:
    if not dataclasses.is_dataclass(value):
        return ast.dump(ast.parse(repr(value), mode="eval").body) == ast.dump(node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    fields = {field.name: field for field in dataclasses.fields(value)}
    if node.func.id != type(value).__name__ or not set(named) <= set(fields):
        return False
    return all(
        _matches(getattr(value, name), named[name])
        if name in named
        else _is_default(getattr(value, name), field)
        for name, field in fields.items()
    )


def _is_default(value: Any, field: "dataclasses.Field[Any]") -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value is field.default or repr(value) == repr(field.default))
    if field.default_factory is not dataclasses.MISSING:
        return repr(value) == repr(field.default_factory())
    return True
