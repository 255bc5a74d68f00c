"""How long a sweep will take, from a short trial of each of its algorithms here."""

import time
from dataclasses import dataclass, replace

from freqdyna.config import Config
from freqdyna.sweeps.sweep import Unit

BEGIN, STEPS = 150, 100
"""Steps before the clock starts, of which 100 are the warm-up, and steps measured."""


@dataclass(frozen=True)
class Estimate:
    """The work of a sweep."""

    units: int
    environment_steps: int
    seconds: float
    """On one device of this machine, one unit after the other."""


def estimate(units: list[Unit]) -> Estimate:
    """Time one unit of each kind for a moment; others of its kind take as long a step."""
    costs: dict[tuple[object, ...], float] = {}
    seconds = 0.0
    for unit in units:
        config = unit.config
        kind = (config.algorithm, config.env, config.planning_steps, config.hidden, config.seeds)
        if kind not in costs:
            print(f"  trying {config.algorithm} on {config.env} ...", flush=True)
            costs[kind] = seconds_a_step(config)
        seconds += costs[kind] * config.steps
    steps = sum(unit.config.seeds * unit.config.steps for unit in units)
    return Estimate(len(units), steps, seconds)


def seconds_a_step(config: Config) -> float:
    """Of all seeds of a unit, after its warm-up."""
    import jax

    from freqdyna.run import Run

    steps = max(config.steps, BEGIN + STEPS)
    short = replace(config, warmup_steps=min(100, config.warmup_steps), steps=steps)
    block = Run.prepare(short, None).block
    state = jax.block_until_ready(block.advance(block.init(), 0, BEGIN))
    began = time.perf_counter()
    jax.block_until_ready(block.advance(state, BEGIN, BEGIN + STEPS))
    return (time.perf_counter() - began) / STEPS
