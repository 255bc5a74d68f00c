"""Estimates how long a sweep will take, from a short trial of each kind of unit."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice

from freqdyna.config import Config
from freqdyna.sweeps.optuna_search import known_units
from freqdyna.sweeps.status import read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep, SweepUnit

BEGIN, STEPS = 150, 100
"""Steps before the measurement, 100 of which are the warm-up, and measured steps."""
WORKER_START = 5.0
"""Seconds until a worker process has imported JAX, roughly."""

_OF_NO_COST = (
    *("first_seed", "steps", "warmup_steps", "target_period"),
    *("eval_every", "snapshot_steps"),
)


@dataclass(frozen=True)
class Costs:
    """Costs in seconds, for all seeds of a unit together."""

    step: float
    """One environment step after the warm-up."""
    evaluation: float
    """One evaluation of a policy that has learned little, so that its episodes are long."""
    start: float = 0.0
    """Tracing and compiling the programs of a unit."""

    def of(self, config: Config) -> float:
        """The cost of a whole training, excluding its start."""
        evaluations = -(-config.steps // config.eval_every)
        return self.step * config.steps + self.evaluation * evaluations


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a sweep."""

    units: int
    environment_steps: int
    seconds: float
    """The duration on this machine, including compilation."""


def units_left(sweep: Sweep, storage: Storage) -> tuple[list[SweepUnit], int]:
    """The units to compute, and the number of units that are done.

    Trials of a search that have not been suggested yet are assumed to cost as much as those so far.
    """
    units, to_come = sweep.units(), 0
    if sweep.search is not None:
        to_come = len(units) * sweep.search.trials
        units = known_units(sweep, storage)
        to_come -= len(units)
    done = read_status(storage, units).done
    left = [unit for unit in units if unit.name not in done]
    return left + list(islice(cycle(units), to_come)), len(units) - len(left)


def estimate(units: list[SweepUnit], slots: int) -> Estimate:
    """Measure one unit of each kind for a short time; others of its kind cost the same per step.

    Args:
        units: The units.
        slots: The number of units that run at a time.

    """
    costs: dict[tuple[object, ...], Costs] = {}
    seconds = 0.0
    programs: Counter[tuple[Config, int]] = Counter()
    for unit in units:
        config = unit.config
        of_kind = costs.get(kind(config))
        if of_kind is None:
            print(f"  trying {config.agent_name} on {config.env} ...", flush=True)
            of_kind = costs[kind(config)] = measure(config)
        seconds += of_kind.of(config)
        programs[replace(config, first_seed=0), unit.together] += 1
    at_a_time = max(1, min(slots, len(units)))
    for (config, together), blocks in programs.items():
        # Workers compile the same program at the same time; later blocks find it in the cache.
        seconds += costs[kind(config)].start * min(blocks, at_a_time) / together
    steps = sum(unit.config.seeds * unit.config.steps for unit in units)
    return Estimate(len(units), steps, WORKER_START + seconds / at_a_time if units else 0.0)


def kind(config: Config) -> tuple[object, ...]:
    """The settings that affect the cost of a step or evaluation: shapes, counts and names.

    Rates and weights do not affect the cost, except for β, which splits a mini-batch.
    """
    settings = asdict(config)
    names = [name for name in settings if name not in _OF_NO_COST]
    return tuple(
        settings[name]
        for name in names
        if name == "simulated_share" or not isinstance(settings[name], float)
    )


def measure(config: Config) -> Costs:
    """Measure the start, some steps after the warm-up, and one evaluation."""
    import jax

    from freqdyna.training.prepare import prepare_run

    steps = max(config.steps, BEGIN + STEPS)
    short = replace(config, warmup_steps=min(100, config.warmup_steps), steps=steps)
    with _without_cached_programs():
        began = time.perf_counter()
        block = prepare_run(short, None, saved=False).block
        state = jax.block_until_ready(block.advance(block.init(), 0, 0))
        start = time.perf_counter() - began
        state = jax.block_until_ready(block.advance(state, 0, BEGIN))
        began = time.perf_counter()
        state = jax.block_until_ready(block.advance(state, BEGIN, BEGIN + STEPS))
        step = (time.perf_counter() - began) / STEPS
        began = time.perf_counter()
        state, _ = jax.block_until_ready(block.evaluate(state, BEGIN))
        first = time.perf_counter() - began
        began = time.perf_counter()
        jax.block_until_ready(block.evaluate(state, BEGIN + STEPS))
        evaluation = time.perf_counter() - began
    block.close()
    return Costs(step, evaluation, start + max(first - evaluation, 0.0))


@contextmanager
def _without_cached_programs() -> Iterator[None]:
    """Compile as for the first time: the programs of a sweep are not in JAX's cache yet."""
    import jax
    from jax.experimental.compilation_cache.compilation_cache import reset_cache

    name = "jax_enable_compilation_cache"
    before = jax.config.values[name]
    jax.config.update(name, False)
    reset_cache()  # JAX looks at the setting only once
    try:
        yield
    finally:
        jax.config.update(name, before)
        reset_cache()
