"""How fast freqdyna trains: rates, the parts of a step, and how its cost grows.

Everything is measured after compilation, in one process and one run: compare ratios within a run.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.dyna.agent import Dyna
from freqdyna.agents.dyna.state import DynaState
from freqdyna.agents.presets import PAPERS_LEARNER
from freqdyna.config import Config
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.training import api
from freqdyna.training.run import Run

REPEATS = 5
WARM_UP = 200
"""Steps before the measurement starts, so that the buffers are not empty and climbs have begun."""

MAZE: dict[str, Any] = {
    **{"env": "MazeGridWorld", "planning_steps": 30},
    **{"learner.hidden": (64, 64), "search_control.states": 50},
}
"""As in the paper."""
WORKLOADS: dict[str, dict[str, Any]] = {
    "ER, d = 10": {"algorithm": "er"},
    "Dyna-Value, d = 10": {"algorithm": "dyna-value"},
    "Dyna-Frequency, d = 10": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, d = 30": {"algorithm": "dyna-frequency", "planning_steps": 30},
    "Dyna-Frequency, maze": {"algorithm": "dyna-frequency", **MAZE},
    # Search-controls without a sequential climb.
    "Dyna-Uniform, d = 10": {"algorithm": "dyna-uniform"},
    "Dyna-TD-error, d = 10": {"algorithm": "dyna-td-error"},
    "Dyna-TD-error, maze": {"algorithm": "dyna-td-error", **MAZE},
}
COUNTED = {"er": 0, "dyna-value": 2, "dyna-frequency": 10}
"""The algorithms whose operations are counted, with the passes of the network in an iteration of a
climb: value and derivatives, and the reverse."""

BASE = "Dyna-Frequency, d = 10"
"""The workload of which one setting at a time is varied, with BASE_SEEDS seeds."""
BASE_SEEDS = 8
GROWTH: dict[str, tuple[int, ...]] = {
    "planning_steps": (1, 10, 30),
    "search_control.states": (5, 20, 50),
    "state_dimension": (2, 3, 4, 8, 11, 17),
    "learner.hidden": (16, 32, 64, 128),
}
SEEDS_ON_CPU = (1, 2, 8, 30, 100)
SEEDS_ON_ACCELERATOR = (1, 10, 30, 100, 300, 600, 1000)


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


class WarmRun(NamedTuple):
    """A compiled training after WARM_UP steps."""

    run: Run
    state: Any
    compile_seconds: float


def measure(workload: str, seeds: int, seconds: float = 2.0) -> Rate:
    """Measure one of WORKLOADS on all devices, for about so many seconds after compilation."""
    return measure_warm(workload, warm(prepare(seeds, **WORKLOADS[workload])), seconds)


def prepare(seeds: int, environment: Environment | None = None, **settings: Any) -> Run:
    """A training that learns from the first step on."""
    # The paper's learner, the true model and no scaling, as in the programs it is compared with.
    usual: dict[str, Any] = {
        **PAPERS_LEARNER,
        "replay.prioritized_share": 0.0,
        "batch_size": 32,
        "warmup_steps": 0,
        "steps": 50_000,
        "scale_observations": False,
    }
    if settings["algorithm"] != "er":
        usual["model"] = "true"
    return api.prepare(Config.of({"seeds": seeds, **usual | settings}), environment)


def warm(run: Run) -> WarmRun:
    """Compile a training and take its first steps."""
    jax.config.update("jax_enable_compilation_cache", False)  # to measure the compilation
    began = time.perf_counter()
    state = jax.block_until_ready(run.block.advance(run.block.init(), 0, 0))
    compile_seconds = time.perf_counter() - began
    state = jax.block_until_ready(run.block.advance(state, 0, WARM_UP))
    return WarmRun(run, state, compile_seconds)


def measure_warm(name: str, ready: WarmRun, seconds: float = 2.0) -> Rate:
    """Measure a training that is compiled."""
    run, state, compile_seconds = ready
    step, steps = WARM_UP, 20
    began = time.perf_counter()
    state = jax.block_until_ready(run.block.advance(state, step, step + steps))
    each = (time.perf_counter() - began) / steps
    step, steps = step + steps, max(10, int(seconds / REPEATS / each))
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        state = jax.block_until_ready(run.block.advance(state, step, step + steps))
        rates.append(run.config.seeds * steps / (time.perf_counter() - began))
        step += steps
    rate = rate_of(name, "freqdyna", run.config.seeds, rates, compile_seconds)
    iterations = jax.vmap(run.block.training.agent.metrics)(state).get(
        "climb_iterations", jnp.zeros(1)
    )
    return replace(rate, climb_iterations=float(iterations.mean()))


def rate_of(
    workload: str, implementation: str, seeds: int, rates: list[float], compile_seconds: float
) -> Rate:
    """The median, slowest and fastest of several measured rates."""
    middle = statistics.median(rates)
    return Rate(workload, implementation, seeds, middle, min(rates), max(rates), compile_seconds)


def flops_per_step(workload: str, climb_iterations: float) -> float:
    """Operations of the matrix products in one step of one seed, for algorithms of COUNTED."""
    run = prepare(1, **WORKLOADS[workload])
    config, sizes = run.config, run.block.training.agent.learner.sizes
    forward = sum(2 * inputs * outputs for inputs, outputs in pairwise(sizes))
    # One forward pass of each network, and a backward pass that costs as much as two.
    updates = config["planning_steps"] * config["batch_size"] * 4 * forward
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


def parts_of_step(workload: str, seeds: int, steps: int = 50) -> dict[str, float]:
    """Microseconds per step of one seed, for the whole step and its parts, on one device.

    The parts are compiled separately. They do not add up to the whole exactly, because XLA fuses
    operations across them.
    """
    agent = prepare(seeds, **WORKLOADS[workload]).block.training.agent
    assert isinstance(agent, Dyna)

    def act_and_store(state: DynaState, t: Any) -> DynaState:
        action = agent.choose(state, t)
        return agent.store(state, t, action, agent.interact(state, t, action))[0]

    parts: dict[str, Callable[[Any, Any], Any]] = {
        "whole step": agent.step,
        "act and store": act_and_store,
    }
    if agent.planning is not None:
        parts["search"] = lambda s, t: agent.search(s, t, jax.random.fold_in(s.key, t))
    parts["updates"] = lambda s, t: agent.plan(s, t, jax.random.fold_in(s.key, t))

    def advance(part: Callable[[Any, Any], Any], start: int, stop: int) -> Callable[[Any], Any]:
        def run(state: Any) -> Any:
            return jax.lax.fori_loop(start, stop, lambda t, s: part(s, t), state)

        return jax.jit(jax.vmap(run))

    keys = jax.random.split(jax.random.key(0), seeds)
    states = advance(agent.step, 0, WARM_UP)(jax.vmap(agent.init)(keys))
    microseconds = {}
    for name, part in parts.items():
        compiled = advance(part, WARM_UP, WARM_UP + steps)
        jax.block_until_ready(compiled(states))
        times = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            jax.block_until_ready(compiled(states))
            times.append(time.perf_counter() - began)
        microseconds[name] = statistics.median(times) / steps / seeds * 1e6
    return microseconds


def measure_growth(seconds: float = 1.0) -> Iterator[tuple[str, int, Rate]]:
    """Measure BASE with one setting varied at a time: the setting, its value, and the rate."""
    on_cpu = jax.default_backend() == "cpu"
    for seeds in SEEDS_ON_CPU if on_cpu else SEEDS_ON_ACCELERATOR:
        yield "seeds", seeds, measure(BASE, seeds, seconds)
    for name, values in GROWTH.items():
        for value in values:
            settings, env = dict(WORKLOADS[BASE]), None
            if name == "state_dimension":
                env = _box(value)
                settings["env"] = env.name
            else:
                settings[name] = (value, value) if name == "learner.hidden" else value
            run = prepare(BASE_SEEDS, env, **settings)
            yield name, value, measure_warm(BASE, warm(run), seconds)


class _Box(Environment):
    """A walk in a box of any dimension, for measuring speed only."""

    num_actions: ClassVar[int] = 3

    def reset(self, key: PRNGKeyArray) -> State:
        return jax.random.uniform(key, (self.observation_size,), minval=-0.5, maxval=0.5)

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        # Each coordinate is moved by the previous one, so that all of them move.
        pull = jnp.cos(7 * jnp.roll(state, 1)) + action - 1
        return jnp.clip(state + 0.02 * pull, self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        return state[0] > 0.99

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        return -jnp.ones(())


def _box(n: int) -> Environment:
    bounds = {"name": f"box-{n}", "low": -np.ones(n, np.float32), "high": np.ones(n, np.float32)}
    box: Environment = type(f"_Box{n}", (_Box,), bounds)()
    return box
