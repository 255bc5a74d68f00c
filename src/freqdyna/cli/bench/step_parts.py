"""Where the time of a step goes: its parts, compiled and timed separately."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.dyna import Dyna
from freqdyna.cli.bench.rates import REPEATS, WARM_UP, workload_config

STEPS = 50


def shares(workload: str, seeds: int) -> dict[str, float]:
    """Microseconds per step of one seed, for the whole step and its parts, on one device.

    The parts do not add up to the whole exactly, because XLA fuses operations across them. The
    random numbers are drawn within the other parts.

    Args:
        workload: A key of WORKLOADS.
        seeds: The number of seeds.

    """
    config = workload_config(workload, seeds)
    agent = algorithms.build(config, envs.make(config.env))
    assert isinstance(agent, Dyna)
    keys = jax.random.split(jax.random.key(0), seeds)
    t = jnp.asarray(WARM_UP)

    def warm(key: PRNGKeyArray) -> Any:
        return jax.lax.fori_loop(0, WARM_UP, lambda i, s: agent.step(s, i), agent.init(key))

    states = jax.jit(jax.vmap(warm))(keys)

    def interact(state: Any, i: Any) -> Any:
        return agent._store(state, t + i, *agent._interact(state, t + i))[0]

    parts: dict[str, Callable[[Any, Any], Any]] = {
        "whole step": lambda s, i: agent.step(s, t + i),
        "act and store": interact,
    }
    planning = agent.planning
    if planning is not None:
        parts["search"] = lambda s, i: agent._search(
            planning, s, t + i, jax.random.fold_in(s.key, i)
        )
    parts["updates"] = lambda s, i: agent._plan(s, t + i, jax.random.fold_in(s.key, i))
    found = {name: _microseconds(part, states, seeds) for name, part in parts.items()}

    step = jax.make_jaxpr(agent.step)(jax.tree.map(lambda leaf: leaf[0], states), t)
    draws = list(_draws(step.jaxpr))
    sums = keys, jnp.zeros(seeds)
    found["random numbers"] = _microseconds(lambda s, i: _draw(draws, s, i), sums, seeds)
    return found


def _draws(jaxpr: Jaxpr) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What a program draws: keys ("split") and random bits ("bits"), with their shapes."""
    for equation in jaxpr.eqns:
        match equation.primitive.name:
            case "random_split":
                yield "split", _shape(equation.outvars[0].aval)
            case "random_fold_in":
                yield "split", (1,)
            case "random_bits":
                yield "bits", _shape(equation.outvars[0].aval)
        for parameter in equation.params.values():
            inner = parameter if isinstance(parameter, list | tuple) else [parameter]
            for program in inner:
                if isinstance(program, ClosedJaxpr):
                    yield from _draws(program.jaxpr)
                elif isinstance(program, Jaxpr):
                    yield from _draws(program)


def _shape(aval: Any) -> tuple[int, ...]:
    return tuple(aval.shape)


def _draw(
    draws: list[tuple[str, tuple[int, ...]]], state: tuple[PRNGKeyArray, Float[Array, ""]], i: Any
) -> tuple[PRNGKeyArray, Float[Array, ""]]:
    """Draw everything, and sum it up so that the compiler cannot skip anything."""
    seed_key, total = state
    key = jax.random.fold_in(seed_key, i)
    for number, (kind, shape) in enumerate(draws):
        if kind == "split":
            key = jax.random.split(key, shape)[(0,) * len(shape)]
        else:
            bits = jax.random.bits(
                jax.random.wrap_key_data(jax.random.key_data(key) + number), shape
            )
            total = total + bits.sum().astype(float)
    return seed_key, total + jax.random.key_data(key).sum().astype(float)


def _microseconds(part: Callable[[Any, Any], Any], states: Any, seeds: int) -> float:
    def run(state: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda i, s: part(s, i), state)

    compiled = jax.jit(jax.vmap(run))
    jax.block_until_ready(compiled(states))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(compiled(states))
        times.append(time.perf_counter() - began)
    return statistics.median(times) / STEPS / seeds * 1e6
