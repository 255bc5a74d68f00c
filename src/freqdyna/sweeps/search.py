"""Hyper-parameter search with Optuna (extra 'optuna'), with the same units as a sweep.

Trials are suggested in batches by a sampler with a fixed seed, which receives their results in
order. A search therefore does not depend on where its units were computed or whether it was
interrupted, and a resumed search finds its units stored.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np
from rich.console import Console

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.core.plugins import module_of
from freqdyna.results.chart import setting_text
from freqdyna.results.record import CompleteSeeds
from freqdyna.results.result import Result
from freqdyna.results.tables import decimals, number, rich_table
from freqdyna.sweeps.execute import compute, load, merged
from freqdyna.sweeps.status import MOST_ROWS, stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit, digest
from freqdyna.training.engines import Engine

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Trial:
    """One trial of a search."""

    settings: dict[str, Any]
    units: list[SweepUnit]
    state: Literal["waiting", "failed", "done"]
    """It is "waiting" if a unit is neither stored nor failed."""
    value: float | None = None
    """The objective; None if the trial is not done or all of its seeds diverged or stopped."""
    seeds: CompleteSeeds | None = field(default=None, compare=False)
    """The seeds that `value` is the mean over, if the trial is done."""

    def record(self, storage: Storage) -> Result:
        """The training of all seeds, if the trial is done."""
        return merged([load(storage, unit.name) for unit in self.units])


def search(
    sweep: Sweep,
    storage: Storage,
    engine: Engine,
    checkpoint_seconds: float = 60.0,
    take_over: bool = False,
) -> list[Trial]:
    """Run all trials, and return them in order; the arguments are those of `execute_sweep`."""
    with storage.lock(take_over):
        storage.write(FILE, sweep.stored())
        for batch in batches(sweep, storage):
            compute(batch, storage, engine, checkpoint_seconds)
    return trials_so_far(sweep, storage)


def trials_so_far(sweep: Sweep, storage: Storage) -> list[Trial]:
    """The trials suggested so far, in order."""
    trials: list[Trial] = []
    list(batches(sweep, storage, trials))
    return trials


def batches(
    sweep: Sweep, storage: Storage, trials: list[Trial] | None = None
) -> Iterator[list[SweepUnit]]:
    """The units of each batch of trials, which are added to `trials`.

    A batch must be computed before the next one is requested, whose suggestions depend on it; the
    iteration ends after one that is not.
    """
    assert sweep.search is not None
    try:
        import optuna
    except ImportError:
        raise FreqdynaError(f"[search] needs: {installing('optuna')}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for first in range(0, sweep.search.trials, sweep.search.together):
        number = min(sweep.search.together, sweep.search.trials - first)
        asked = [study.ask() for _ in range(number)]
        settings = [{n: _suggest(t, n, r) for n, r in sweep.search.space.items()} for t in asked]
        configs = [sweep.config(of_one) for of_one in settings]
        units = _units(sweep, configs)
        yield [unit for of_trial in units for unit in of_trial]
        done, objective = stored_units(storage), sweep.search.objective
        pairs = zip(settings, units, strict=True)
        tried = [trial_at(storage, *pair, objective, done) for pair in pairs]
        if trials is not None:
            trials += tried
        if any(trial.state == "waiting" for trial in tried):
            return
        if trials is None and all(trial.value is None for trial in tried):
            raise FreqdynaError("all trials of a batch failed or diverged; see freqdyna status")
        failed = optuna.trial.TrialState.FAIL
        for question, trial in zip(asked, tried, strict=True):
            study.tell(question, trial.value, failed if trial.value is None else None)


def _units(sweep: Sweep, configs: list[Config]) -> list[list[SweepUnit]]:
    """The units of each trial; trials that differ only in numbers share a compiled program."""
    alike: dict[Any, list[int]] = {}
    for index, config in enumerate(configs):
        alike.setdefault(_form(config), []).append(index)
    of_trial = [sweep.blocks(config) for config in configs]
    for together in alike.values():
        for block in range(len(of_trial[0]) if len(together) > 1 else 0):
            members = [of_trial[index][block] for index in together]
            program = digest([unit.config.flat() for unit in members])
            for index in together:
                of_trial[index][block] = replace(of_trial[index][block], program=program)
    return of_trial


def trial_at(
    storage: Storage,
    settings: dict[str, Any],
    units: list[SweepUnit],
    objective: str,
    done: set[str],
) -> Trial:
    """The current state of a trial; `done` are the names of all stored units."""
    open_units = [unit for unit in units if unit.name not in done]
    if open_units:
        failed = all(storage.read(f"failed/{unit.name}.json") for unit in open_units)
        return Trial(settings, units, "failed" if failed else "waiting")
    record = Trial(settings, units, "done").record(storage)
    seeds = record.complete_seeds
    returns = record.mean_return() if objective == "mean" else record.returns[:, -1]
    value = float(np.mean(returns[seeds.kept])) if seeds.kept.any() else None
    return Trial(settings, units, "done", value, seeds)


def print_trials(trials: list[Trial]) -> None:
    """Print the best trials of a search, the best first."""
    rows = [["trial", "return", "seeds", *(trials[0].settings if trials else [])]]
    values = [-math.inf if trial.value is None else trial.value for trial in trials]
    order, digits = sorted(range(len(trials)), key=lambda index: -values[index]), decimals(values)
    for index in order[:MOST_ROWS]:
        trial = trials[index]
        state = "none" if trial.state == "done" else trial.state
        reached = state if trial.value is None else number(trial.value, digits)
        seeds = trial.seeds.text() if trial.seeds else ""
        rows.append([str(index), reached, seeds, *map(setting_text, trial.settings.values())])
    console = Console()
    console.print("best trials")
    console.print(rich_table(rows))


def _form(config: Config) -> Any:
    """What trainings of one program have in common.

    A training in a Gymnasium environment has a program of its own. So does one with a custom
    search-control or model: its form is not known without importing code, which `freqdyna status`
    must not.
    """
    names = (config.search_control, config.model)
    has_code = any(module_of(name) is not None for name in names)
    if config.env not in envs.ENVIRONMENTS or has_code:
        return object()
    env = envs.make(config.env, **config.of_component("env"))
    agent = algorithms.build(config, env)
    plain = jax.tree.map(lambda leaf: 0, agent)
    return jax.tree.structure(plain), config.eval_episodes, config.eval_every


def _suggest(trial: "optuna.Trial", name: str, range_: dict[str, Any]) -> Any:
    if "choices" in range_:
        # Optuna only accepts plain values: lists, such as for hidden, are chosen by their index.
        index = trial.suggest_int(name, 0, len(range_["choices"]) - 1)
        return range_["choices"][index]
    low, high, log = range_["low"], range_["high"], range_.get("log", False)
    if type(low) is int and type(high) is int:
        return trial.suggest_int(name, low, high, log=log)
    return trial.suggest_float(name, low, high, log=log)
