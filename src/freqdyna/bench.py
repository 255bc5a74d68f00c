"""How fast this machine trains: rates of the paper's workloads, and where their time goes.

Everything is measured warm, in one process, in the same run: compare ratios, not days.
"""

import json
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna import algorithms, envs
from freqdyna.config import Config
from freqdyna.devices import seed_devices
from freqdyna.dyna import Dyna
from freqdyna.files import write_atomically
from freqdyna.training import Block, Training, compile_block

REPEATS = 5
WARM_UP = 200
"""Steps taken before the clock starts: the buffers hold something, climbs have begun."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "ER, d = 10": {"algorithm": "er"},
    "Dyna-Value, d = 10": {"algorithm": "dyna-value"},
    "Dyna-Frequency, d = 10": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, d = 30": {"algorithm": "dyna-frequency", "planning_steps": 30},
    "Dyna-Frequency, maze": {"algorithm": "dyna-frequency", "env": "MazeGridWorld"},
}


@dataclass(frozen=True)
class Rate:
    """One workload's speed."""

    workload: str
    implementation: str
    seeds: int
    steps_per_second: float
    """Environment steps of all seeds together: the median of the repeats."""
    slowest: float
    fastest: float
    compile_seconds: float


def measure(workload: str, seeds: int, seconds: float = 2.0) -> Rate:
    """The rate of one of WORKLOADS with so many seeds on all devices of this machine."""
    block, state, compile_seconds = _warm_block(workload, seeds)
    step, steps = WARM_UP, 20
    began = time.perf_counter()
    state = jax.block_until_ready(block.advance(state, step, step + steps))
    each = (time.perf_counter() - began) / steps
    step, steps = step + steps, max(10, int(seconds / REPEATS / each))
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        state = jax.block_until_ready(block.advance(state, step, step + steps))
        rates.append(seeds * steps / (time.perf_counter() - began))
        step += steps
    return rate_of(workload, "freqdyna", seeds, rates, compile_seconds)


def rate_of(
    workload: str, implementation: str, seeds: int, rates: list[float], compile_seconds: float
) -> Rate:
    """The median of several measured rates, with the slowest and the fastest."""
    middle = statistics.median(rates)
    return Rate(workload, implementation, seeds, middle, min(rates), max(rates), compile_seconds)


def shares(workload: str, seeds: int) -> dict[str, float]:
    """Microseconds of one step of one seed: the whole, and its parts compiled by themselves.

    Parts compiled alone do not add up to the whole exactly: XLA fuses across them.
    """
    config = _config(workload, seeds)
    agent = algorithms.build(config, envs.make(config.env))
    assert isinstance(agent, Dyna)
    keys = jax.random.split(jax.random.key(0), seeds)
    t = jnp.asarray(WARM_UP)

    def warm(key: Any) -> Any:
        return jax.lax.fori_loop(0, WARM_UP, lambda i, s: agent.step(s, i), agent.init(key))

    states = jax.jit(jax.vmap(warm))(keys)
    parts: dict[str, Callable[[Any, Any], Any]] = {
        "whole step": lambda s, i: agent.step(s, t + i),
        "updates": lambda s, i: agent._plan(s, t + i, jax.random.fold_in(s.key, i)),
    }
    planning = agent.planning
    if planning is not None:
        parts["search"] = lambda s, i: agent._search(
            planning, s, t + i, jax.random.fold_in(s.key, i)
        )
    return {name: _microseconds(part, states, seeds) for name, part in parts.items()}


def flops_per_step(workload: str, climb_iterations: float) -> float:
    """Floating-point operations of matrix products in one step of one seed, counted by hand."""
    config = _config(workload, 1)
    env = envs.make(config.env)
    assert config.hidden is not None
    assert config.planning_steps is not None
    sizes = (env.observation_size, *config.hidden, env.num_actions)
    forward = sum(2 * i * o for i, o in pairwise(sizes))
    # Target and online network forward, and twice a forward pass backward.
    updates = config.planning_steps * config.batch_size * 4 * forward
    if config.algorithm == "er":
        return float(updates + forward)
    simulated = config.planning_steps * config.batch_size * config.simulated_share * forward
    columns = 10 if config.algorithm == "dyna-frequency" else 2  # value and derivatives; reverse
    return updates + simulated + forward + climb_iterations * columns * forward


def matrix_rate(size: int = 512) -> float:
    """The rate of a device in products of square float32 matrices, in operations a second."""
    matrix = jnp.ones((size, size))
    product = jax.jit(lambda m: m @ m * 1e-3)
    matrix = jax.block_until_ready(product(matrix))
    began, turns = time.perf_counter(), 20
    for _ in range(turns):
        matrix = product(matrix)
    jax.block_until_ready(matrix)
    return float(2 * size**3 * turns / (time.perf_counter() - began))


def save(path: Path, rates: list[Rate], further: dict[str, Any]) -> None:
    """Write the rates, what machine they are of, and further findings, as JSON."""
    facts = {
        "machine": f"{platform.system()} {platform.machine()}",
        "device": f"{jax.device_count()} × {jax.devices()[0].device_kind}",
        "jax": jax.__version__,
        "rates": [asdict(rate) for rate in rates],
        **further,
    }
    text = json.dumps(facts, indent=2) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def _config(workload: str, seeds: int) -> Config:
    settings = {"warmup_steps": 0, "steps": 50_000, **WORKLOADS[workload]}
    return Config(seeds=seeds, **settings).resolved()


def _warm_block(workload: str, seeds: int) -> tuple[Block, Any, float]:
    config = _config(workload, seeds)
    devices = seed_devices(seeds)
    training = Training(algorithms.build(config, envs.make(config.env)), 1, 0.05)
    block = compile_block(training, np.arange(seeds), devices)
    began = time.perf_counter()
    state = jax.block_until_ready(block.advance(block.init(), 0, 0))  # no step: compiles
    compile_seconds = time.perf_counter() - began
    return block, jax.block_until_ready(block.advance(state, 0, WARM_UP)), compile_seconds


def _microseconds(part: Callable[[Any, Any], Any], states: Any, seeds: int) -> float:
    steps = 50

    def run(state: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda i, s: part(s, i), state)

    compiled = jax.jit(jax.vmap(run))
    jax.block_until_ready(compiled(states))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(compiled(states))
        times.append(time.perf_counter() - began)
    return statistics.median(times) / steps / seeds * 1e6
