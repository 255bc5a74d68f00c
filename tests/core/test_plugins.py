"""Components by name, code that names import, and descriptions of components."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import pytest
from jaxtyping import Array

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import Registry, describe, import_code


@dataclass(frozen=True)
class Part:
    rate: float = 0.5
    rule: Callable[[float], float] = abs


class Weighted(eqx.Module):
    weights: Array


def rule(x: float) -> float:
    return x


def test_a_description_has_the_class_and_every_field_without_addresses():
    assert describe(Part(rule=rule)) == "Part(rate=0.5, rule=<function rule>)"
    one, other = Weighted(jnp.zeros(3)), Weighted(jnp.array([0.0, 0.0, 1.0]))
    assert describe(one) == describe(Weighted(jnp.zeros(3))) != describe(other)


class Base:
    """A kind of component."""


class Mine(Base):
    """A component."""


def test_a_registry_finds_registered_names_and_classes_of_imported_modules():
    registry = Registry("part", Base)
    assert registry.register("mine")(Mine) is Mine
    assert registry.find("mine") is Mine
    # What is written down must be found by a process that has not run the registration.
    assert registry.full_name(Mine) == f"{__name__}:Mine"
    assert registry.find(registry.full_name(Mine)) is Mine
    with pytest.raises(FreqdynaError, match="'mind'"):
        registry.find("mind")
    with pytest.raises(FreqdynaError, match="sqrt"):
        registry.find("math:sqrt")
    with pytest.raises(FreqdynaError, match="mine"):
        registry.register("mine")


def test_finding_a_class_imports_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "a_users_module", raising=False)
    file = tmp_path / "a_users_module.py"
    file.write_text(f"from {__name__} import Base\nclass Part(Base): pass")
    registry = Registry("part", Base)
    with pytest.raises(FreqdynaError, match="a_users_module"):
        registry.find("a_users_module:Part")
    assert "a_users_module" not in sys.modules
    import_code(env="CartPole-v1", search_control="a_users_module:Part", model=Mine())
    assert registry.find("a_users_module:Part").__name__ == "Part"


def test_errors_of_an_imported_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_broken_module.py").write_text("import no_such_module")
    with pytest.raises(FreqdynaError, match="no_such_module"):
        import_code(model="no_such_module.part:Mine")
    with pytest.raises(ModuleNotFoundError):
        import_code(model="a_broken_module:Mine")
