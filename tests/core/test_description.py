"""A description is the same in every process, and differs when a field or an array differs."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from freqdyna.core.description import describe


@dataclass(frozen=True)
class Part:
    rate: float = 0.5
    rule: Callable[[float], float] = abs


class Weighted(eqx.Module):
    weights: Array


def rule(x: float) -> float:
    return x


def test_a_description_has_the_class_and_every_field_without_addresses():
    assert describe(Part(0.25)) == "Part(rate=0.25, rule=<built-in function abs>)"
    assert describe(Part(rule=rule)) == "Part(rate=0.5, rule=<function rule>)"


def test_descriptions_differ_with_the_values_of_arrays():
    one, other = Weighted(jnp.zeros(3)), Weighted(jnp.array([0.0, 0.0, 1.0]))
    assert describe(one) == describe(Weighted(jnp.zeros(3))) != describe(other)
