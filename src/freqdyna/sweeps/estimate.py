"""How long a sweep will take, from a short trial of each kind of unit here."""

import time
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice

from freqdyna.config import VERSION, Config
from freqdyna.sweeps.optuna_search import known_units
from freqdyna.sweeps.status import read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep, SweepUnit

BEGIN, STEPS = 150, 100
"""Steps before the clock starts, of which 100 are the warm-up, and steps measured."""


_OF_NO_COST = (
    *("first_seed", "steps", "warmup_steps", "target_period"),
    *("eval_every", "snapshot_steps"),
)


@dataclass(frozen=True)
class Costs:
    """Seconds that all seeds of a unit take together."""

    step: float
    """An environment step after the warm-up."""
    evaluation: float
    """An evaluation of a policy that has learned little, whose episodes are long."""

    def of(self, config: Config) -> float:
        """Of a whole training."""
        evaluations = -(-config.steps // config.eval_every)
        return self.step * config.steps + self.evaluation * evaluations


@dataclass(frozen=True)
class Estimate:
    """The work of a sweep."""

    units: int
    environment_steps: int
    seconds: float
    """On one device of this machine, one unit after the other."""

    def seconds_with(self, slots: int) -> float:
        """With so many units at a time, of which none is split."""
        return self.seconds / max(1, min(slots, self.units))


def units_left(sweep: Sweep, storage: Storage) -> tuple[list[SweepUnit], int]:
    """The units to compute, and how many are done.

    Of a search, what is not suggested yet is taken to cost what its suggestions so far do.
    """
    units, to_come = sweep.units(), 0
    if sweep.search is not None:
        to_come = len(units) * sweep.search.trials
        units = known_units(sweep, storage)
        to_come -= len(units)
    done = read_status(storage, units).done
    left = [unit for unit in units if unit.name not in done]
    return left + list(islice(cycle(units), to_come)), len(units) - len(left)


def estimate(units: list[SweepUnit]) -> Estimate:
    """Time one unit of each kind for a moment; others of its kind take as long a step."""
    costs: dict[tuple[object, ...], Costs] = {}
    seconds = 0.0
    for unit in units:
        config = unit.config
        of_kind = costs.get(kind(config))
        if of_kind is None:
            print(f"  trying {config.algorithm} on {config.env} ...", flush=True)
            of_kind = costs[kind(config)] = measure(config, unit.version)
        seconds += of_kind.of(config)
    steps = sum(unit.config.seeds * unit.config.steps for unit in units)
    return Estimate(len(units), steps, seconds)


def kind(config: Config) -> tuple[object, ...]:
    """The settings on which the time of a step or evaluation depends: shapes, counts and names.

    Rates and weights change what is computed, not how much; but for β, which splits a mini-batch.
    """
    settings = asdict(config)
    names = [name for name in settings if name not in _OF_NO_COST]
    return tuple(
        settings[name]
        for name in names
        if name == "simulated_share" or not isinstance(settings[name], float)
    )


def measure(config: Config, version: str = VERSION) -> Costs:
    """Some steps after the warm-up, and one evaluation; both compiled before."""
    import jax

    from freqdyna.training.prepare import prepare_run

    steps = max(config.steps, BEGIN + STEPS)
    short = replace(config, warmup_steps=min(100, config.warmup_steps), steps=steps)
    block = prepare_run(short, None, version=version).block
    state = jax.block_until_ready(block.advance(block.init(), 0, BEGIN))
    began = time.perf_counter()
    state = jax.block_until_ready(block.advance(state, BEGIN, BEGIN + STEPS))
    step = (time.perf_counter() - began) / STEPS
    state, _ = jax.block_until_ready(block.evaluate(state, BEGIN))
    began = time.perf_counter()
    jax.block_until_ready(block.evaluate(state, BEGIN + STEPS))
    evaluation = time.perf_counter() - began
    block.close()
    return Costs(step, evaluation)
