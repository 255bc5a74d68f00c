"""Hyper-parameter search by Optuna (extra 'optuna'), over the same units as any sweep.

Trials are suggested a batch at a time by a sampler with a fixed seed and told in their order, so
that a search does not depend on where, or how often interrupted, its units were computed; a search
that is resumed finds its units stored.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.sweeps.execute import compute
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit
from freqdyna.sweeps.trial import Trial, trial_at
from freqdyna.training.engines.base import Engine

if TYPE_CHECKING:
    import optuna


def search(
    text: str, sweep: Sweep, storage: Storage, engine: Engine, checkpoint_seconds: float = 60.0
) -> list[Trial]:
    """Try all trials; returns them in their order."""
    with locked(storage):
        storage.remove_partial_files()
        storage.write(FILE, sweep.stored(text).encode())
        for batch in batches(sweep, storage):
            compute(sweep, batch, storage, engine, checkpoint_seconds)
    return trials_so_far(sweep, storage)


def trials_so_far(sweep: Sweep, storage: Storage) -> list[Trial]:
    """The trials suggested so far, in their order."""
    trials: list[Trial] = []
    for _ in batches(sweep, storage, trials):
        pass
    return trials


def known_units(sweep: Sweep, storage: Storage) -> list[SweepUnit]:
    """The units of all trials suggested so far: what comes next depends on their outcome."""
    programs = [program for batch in batches(sweep, storage, []) for program in batch]
    return [unit for program in programs for unit in program]


def batches(
    sweep: Sweep, storage: Storage, trials: list[Trial] | None = None
) -> Iterator[list[list[SweepUnit]]]:
    """Each batch as programs of units; when the next is asked for, this one must be computed.

    Ends where it is not: what is suggested next depends on it. `trials` is filled on the way.
    """
    assert sweep.search is not None
    study = _study()
    for first in range(0, sweep.search.trials, sweep.search.together):
        number = min(sweep.search.together, sweep.search.trials - first)
        asked = [study.ask() for _ in range(number)]
        settings = [{n: _suggest(t, n, r) for n, r in sweep.search.space.items()} for t in asked]
        configs = [sweep.config(of_one) for of_one in settings]
        programs, units = _programs(sweep, configs)
        yield programs
        done, objective = storage.units("units", ".parquet"), sweep.search.objective
        tried = [
            trial_at(storage, *of_one, objective, done)
            for of_one in zip(settings, units, strict=True)
        ]
        if trials is not None:
            trials += tried
        if any(trial.state == "waiting" for trial in tried):
            return
        if trials is None and all(trial.value is None for trial in tried):
            raise FreqdynaError("every trial of a batch failed; see freqdyna status")
        for question, trial in zip(asked, tried, strict=True):
            if trial.value is None:
                study.tell(question, state=_failed())
            else:
                study.tell(question, trial.value)


def _programs(
    sweep: Sweep, configs: list[Config]
) -> tuple[list[list[SweepUnit]], list[list[SweepUnit]]]:
    """The units of some trials: those of one program together, and those of each trial."""
    alike: dict[Any, list[int]] = {}
    for index, config in enumerate(configs):
        alike.setdefault(_form(config), []).append(index)
    programs: list[list[SweepUnit]] = []
    of_trial: list[list[SweepUnit]] = [[] for _ in configs]
    for together in alike.values():
        for index in together:
            of_trial[index] = sweep.blocks(configs[index], len(together))
        programs += map(list, zip(*(of_trial[index] for index in together), strict=True))
    return programs, of_trial


def _form(config: Config) -> Any:
    """What trainings of one program have in common; one on the host has it with none.

    Nor has one with code of the user's: its form could not be told without importing it, and
    `freqdyna status` imports nothing.
    """
    from freqdyna.envs.resolve import named_environment

    if config.env not in envs.ENVIRONMENTS or ":" in (config.search_control or ""):
        return object()
    env = named_environment(config)
    assert isinstance(env, envs.Environment)
    agent = algorithms.build(config, env)
    plain = jax.tree.map(lambda leaf: 0, agent)
    return jax.tree.structure(plain), config.eval_episodes, config.eval_every


def _study() -> "optuna.Study":
    try:
        import optuna
    except ImportError:
        raise FreqdynaError(f"[search] needs: {installing('optuna')}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))


def _suggest(trial: "optuna.Trial", name: str, range_: dict[str, Any]) -> Any:
    if "choices" in range_:
        # Optuna takes plain values alone: lists, such as hidden's, are chosen by their index.
        index = trial.suggest_int(name, 0, len(range_["choices"]) - 1)
        return range_["choices"][index]
    low, high, log = range_["low"], range_["high"], range_.get("log", False)
    if type(low) is int and type(high) is int:
        return trial.suggest_int(name, low, high, log=log)
    return trial.suggest_float(name, low, high, log=log)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL
