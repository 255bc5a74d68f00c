"""Training speed on this machine: rates of the paper's workloads, and their arithmetic.

Everything is measured after compilation, in one process and one run: compare ratios within a run.
"""

import json
import statistics
import time
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.files import write_atomically
from freqdyna.envs import Environment
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.results.provenance import provenance
from freqdyna.training.block import Block, CompiledBlock, Layout
from freqdyna.training.devices import seed_devices
from freqdyna.training.training import Training

REPEATS = 5
WARM_UP = 200
"""Steps before the measurement starts, so that the buffers are not empty and climbs have begun."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "ER, d = 10": {"algorithm": "er"},
    "Dyna-Value, d = 10": {"algorithm": "dyna-value"},
    "Dyna-Frequency, d = 10": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, d = 30": {"algorithm": "dyna-frequency", "planning_steps": 30},
    "Dyna-Frequency, maze": {"algorithm": "dyna-frequency", "env": "MazeGridWorld"},
    # Search-controls without a sequential climb, and one with short climbs side by side.
    "Dyna-Uniform, d = 10": {"algorithm": "dyna-uniform"},
    "Dyna-TD-error, d = 10": {"algorithm": "dyna-td-error"},
    "Dyna-Parallel-Frequency, d = 10": {"algorithm": "dyna-parallel-frequency"},
    "Dyna-TD-error, maze": {"algorithm": "dyna-td-error", "env": "MazeGridWorld"},
}
COUNTED = {"er": 0, "dyna-value": 2, "dyna-frequency": 10}
"""The algorithms whose operations are counted, with the passes of the network in an iteration of a
climb: value and derivatives, and the reverse."""


@dataclass(frozen=True)
class Rate:
    """The speed of one workload."""

    workload: str
    implementation: str
    seeds: int
    steps_per_second: float
    """Environment steps per second, summed over all seeds: the median of the repeats."""
    slowest: float
    fastest: float
    compile_seconds: float
    climb_iterations: float = 0.0
    """Climbing iterations per step, averaged over seeds and steps."""


def measure(workload: str, seeds: int, seconds: float = 2.0) -> Rate:
    """Measure one of WORKLOADS on all devices of this machine.

    Args:
        workload: A key of WORKLOADS.
        seeds: The number of seeds.
        seconds: About how long to measure, excluding compilation.

    """
    config = workload_config(workload, seeds)
    return measure_config(workload, config, envs.make(config.env), seconds)


def measure_config(name: str, config: Config, env: Environment, seconds: float = 2.0) -> Rate:
    """Measure a training on all devices of this machine.

    Args:
        name: What the result is called.
        config: The settings.
        env: The environment.
        seconds: About how long to measure, excluding compilation.

    """
    return measure_block(name, config.seeds, warm_block(config, env), seconds)


def measure_block(name: str, seeds: int, warm: "WarmBlock", seconds: float = 2.0) -> Rate:
    """Measure what `warm_block` has compiled.

    Args:
        name: What the result is called.
        seeds: The number of seeds.
        warm: The training.
        seconds: About how long to measure.

    """
    block, state, compile_seconds = warm
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
    rate = rate_of(name, "freqdyna", seeds, rates, compile_seconds)
    counted = state.diagnostics.searches.mean(axis=0)  # searches, found, iterations, ...
    return replace(rate, climb_iterations=float(counted[2] / jnp.maximum(counted[0], 1)))


def rate_of(
    workload: str, implementation: str, seeds: int, rates: list[float], compile_seconds: float
) -> Rate:
    """The median, slowest and fastest of several measured rates."""
    middle = statistics.median(rates)
    return Rate(workload, implementation, seeds, middle, min(rates), max(rates), compile_seconds)


def flops_per_step(workload: str, climb_iterations: float) -> float:
    """Floating-point operations of the matrix products in one step of one seed.

    Args:
        workload: A key of WORKLOADS, with one of the algorithms of COUNTED.
        climb_iterations: The climbing iterations per step.

    """
    config = workload_config(workload, 1)
    env = envs.make(config.env)
    assert config.hidden is not None
    assert config.planning_steps is not None
    sizes = (env.observation_size, *config.hidden, env.num_actions)
    forward = sum(2 * i * o for i, o in pairwise(sizes))
    # One forward pass of each network, and a backward pass that costs as much as two.
    updates = config.planning_steps * config.batch_size * 4 * forward
    return updates + forward + climb_iterations * COUNTED[config.algorithm] * forward


def matrix_rate(size: int = 512) -> float:
    """The rate of a device in products of square float32 matrices, in operations per second."""
    matrix = jnp.ones((size, size))
    product = jax.jit(lambda m: m @ m * 1e-3)
    matrix = jax.block_until_ready(product(matrix))
    began, turns = time.perf_counter(), 20
    for _ in range(turns):
        matrix = product(matrix)
    jax.block_until_ready(matrix)
    return float(2 * size**3 * turns / (time.perf_counter() - began))


def save(path: Path, rates: list[Rate], further: dict[str, Any]) -> None:
    """Write the rates, a description of the machine, and further results as JSON."""
    facts = {
        **provenance(jax.devices()),
        "rates": [asdict(rate) for rate in rates],
        **further,
    }
    text = json.dumps(facts, indent=2) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def workload_config(workload: str, seeds: int, **changes: Any) -> Config:
    """The settings of one of WORKLOADS with changes; learning starts with the first step."""
    # Observations are not scaled, so that the work is that of the programs it is compared with.
    usual = {"warmup_steps": 0, "steps": 50_000, "scale_observations": False}
    settings = {**usual, **WORKLOADS[workload], **changes}
    return resolved_by_name(Config(seeds=seeds, **settings))


class WarmBlock(NamedTuple):
    """A compiled training after WARM_UP steps."""

    block: Block
    state: Any
    compile_seconds: float


def warm_block(config: Config, env: Environment) -> WarmBlock:
    """Compile a training and take its first steps."""
    devices = seed_devices(config.seeds)
    training = Training(algorithms.build(config, env), 1, 0.05)
    block = CompiledBlock(training, Layout.of(np.arange(config.seeds), devices))
    began = time.perf_counter()
    state = jax.block_until_ready(block.advance(block.init(), 0, 0))  # zero steps: only compiles
    compile_seconds = time.perf_counter() - began
    warm = jax.block_until_ready(block.advance(state, 0, WARM_UP))
    return WarmBlock(block, warm, compile_seconds)
