import functools
import json
import subprocess
import sys
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from freqdyna.core.description import describe, matches


@dataclass
class Inner:
    rate: float
    kept: bool = False


@dataclass
class Outer:
    inner: Inner
    names: tuple[str, ...] = ()


OBJECT = Outer(Inner(0.5), ("a",))


def test_an_object_matches_its_own_description():
    assert describe(OBJECT) == "Outer(inner=" + repr(Inner(0.5)) + ", names=('a',))"
    assert matches(OBJECT, describe(OBJECT))
    assert matches(OBJECT, "Outer(inner=Inner(rate=0.5), names=('a',))")  # as Equinox writes it


@pytest.mark.parametrize(
    "text",
    [
        "Outer(inner=Inner(rate=0.25, kept=False), names=('a',))",
        "Outer(inner=Inner(rate=0.5, kept=True), names=('a',))",
        "Outer(inner=Inner(rate=0.5, kept=False))",
        "Outer(inner=Inner(rate=0.5, kept=False), names=('a',), gone=1)",
        "Other(inner=Inner(rate=0.5, kept=False), names=('a',))",
        "not an expression",
        "",
        None,
        "(" * 10_000,
    ],
)
def test_another_description_does_not_match(text):
    assert not matches(OBJECT, text)


def test_a_field_added_since_does_not_matter_unless_it_changes_what_was():
    newer = make_dataclass("Inner", [("rate", float), ("mode", str), ("kept", bool, False)])
    assert matches(newer(0.5, "new"), "Inner(rate=0.5, kept=False)")
    assert matches(newer(0.5, "new"), "Inner(rate=0.5)")
    assert not matches(newer(0.5, "new", True), "Inner(rate=0.5)")


def test_fields_of_objects_in_a_tuple_may_be_omitted_if_they_are_defaults():
    pair = make_dataclass("Pair", [("parts", tuple)])
    text = "Pair(parts=(Inner(rate=0.5), Outer(inner=Inner(rate=1.0),\n  names=('a, b',))))"
    parts = Inner(0.5), Outer(Inner(1.0), ("a, b",))
    assert matches(pair(parts), text)
    assert matches(pair(parts), describe(pair(parts)))
    assert matches(pair((Inner(0.5),)), "Pair(parts=(Inner(rate=0.5),))")
    assert not matches(pair((Inner(0.5, True), parts[1])), text)
    assert not matches(pair(parts[:1]), text)
    assert not matches(pair((parts[1], parts[0])), text)


def test_values_may_be_written_in_any_way():
    space = make_dataclass("Space", [("box", Inner), ("label", str)])
    box = type("Box", (), {"__repr__": lambda self: "Box([-1. 1.], (2,), 'a,b')"})()
    text = "Space(box=Box([-1. 1.],\n  (2,), 'a,b'), label='it\\'s \"(\"')"
    assert matches(space(box, 'it\'s "("'), text)
    assert not matches(space(box, "its"), text)


def test_arrays_are_compared_by_their_text():
    space = make_dataclass("Space", [("low", np.ndarray)])
    assert matches(space(np.zeros(2)), describe(space(np.zeros(2))))
    assert not matches(space(np.zeros(2)), describe(space(np.ones(2))))
    assert matches(space(np.zeros(2, np.float32)), "Space(low=f32[2](numpy))")  # by Equinox
    assert not matches(space(np.zeros(2, np.float32)), "Space(low=f32[3](numpy))")


def double(x):
    return 2 * x


class Opaque:
    def method(self):
        """Never called."""


@dataclass
class Custom:
    act: Any


CUSTOM = {
    "function": double,
    "lambda": lambda x: x,
    "jax": jax.nn.relu,
    "jitted": jax.jit(double),
    "class": Inner,
    "partial": functools.partial(double, x=functools.partial(double, Opaque())),
    "object": Opaque(),
    "method": Opaque().method,
    "container": {"f": (double, [Opaque()]), "g": {double}},
    "set": frozenset("abcdefgh"),
    "dataclass": Custom(Custom(Opaque())),
}


def test_a_description_is_the_same_in_another_process():
    code = (
        "import json, test_description as t\n"
        "print(json.dumps({name: t.describe(t.Custom(v)) for name, v in t.CUSTOM.items()}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(found.stdout)
    for name, value in CUSTOM.items():
        ours = describe(Custom(value)).replace(__name__, "test_description")
        assert ours == theirs[name]
        assert "0x" not in ours
        assert matches(Custom(value), describe(Custom(value)))


def test_functions_are_described_by_their_names():
    assert describe(Custom((double,))) == f"Custom(act=(<function {__name__}.double>,))"
    assert describe(Custom(jax.nn.silu)) != describe(Custom(jax.nn.relu))
    partial = describe(Custom(functools.partial(double, 1, y=2)))
    assert partial == f"Custom(act=functools.partial(<function {__name__}.double>, 1, y=2))"
    assert describe(Custom("0x7f0000001000")) == "Custom(act='0x7f0000001000')"
    assert not matches(Custom(double), describe(Custom(describe)))


@pytest.mark.parametrize("name", CUSTOM)
def test_a_description_with_addresses_of_another_process_still_matches(name):
    value = Custom(CUSTOM[name])
    before = f"Custom(act={CUSTOM[name]!r})"
    assert matches(value, before.replace("0x", "0x7"))
    assert not matches(Custom(OBJECT), before)
