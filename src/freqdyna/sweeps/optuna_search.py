"""Hyper-parameter search with Optuna (extra 'optuna'), with the same units as a sweep.

Trials are suggested in batches by a sampler with a fixed seed, which receives their results in
order. A search therefore does not depend on where its units were computed or whether it was
interrupted, and a resumed search finds its units stored.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.core.plugins import module_of
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
    """Run all trials.

    Args:
        text: The text of the sweep file, which is stored with the results.
        sweep: The sweep that it describes.
        storage: The location of the sweep.
        engine: Computes the units.
        checkpoint_seconds: Seconds between checkpoints of a unit.

    Returns:
        The trials in order.

    """
    with locked(storage):
        storage.remove_partial_files()
        storage.write(FILE, sweep.stored(text).encode())
        for batch in batches(sweep, storage):
            compute(sweep, batch, storage, engine, checkpoint_seconds)
    return trials_so_far(sweep, storage)


def trials_so_far(sweep: Sweep, storage: Storage) -> list[Trial]:
    """The trials suggested so far, in order."""
    trials: list[Trial] = []
    for _ in batches(sweep, storage, trials):
        pass
    return trials


def known_units(sweep: Sweep, storage: Storage) -> list[SweepUnit]:
    """The units of all trials suggested so far; later trials depend on their results."""
    programs = [program for batch in batches(sweep, storage, []) for program in batch]
    return [unit for program in programs for unit in program]


def batches(
    sweep: Sweep, storage: Storage, trials: list[Trial] | None = None
) -> Iterator[list[list[SweepUnit]]]:
    """The batches of trials; a batch must be computed before the next one is requested.

    Args:
        sweep: The sweep.
        storage: The location of the sweep.
        trials: A list to which the trials are added, or None.

    Yields:
        The units of a batch, grouped by compiled program. The iteration ends after a batch that is
        not computed, because the next suggestions depend on it.

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
            raise FreqdynaError("all trials of a batch failed or diverged; see freqdyna status")
        for question, trial in zip(asked, tried, strict=True):
            if trial.value is None:
                study.tell(question, state=_failed())
            else:
                study.tell(question, trial.value)


def _programs(
    sweep: Sweep, configs: list[Config]
) -> tuple[list[list[SweepUnit]], list[list[SweepUnit]]]:
    """The units of some trials, grouped by program and grouped by trial."""
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
    """What trainings of one program have in common.

    A training in a Gymnasium environment has a program of its own. So does one with a custom
    search-control or model: its form is not known without importing code, which `freqdyna status`
    must not.
    """
    from freqdyna.envs.resolve import named_environment

    names = (config.search_control, config.model)
    has_code = any(module_of(name) is not None for name in names)
    if config.env not in envs.ENVIRONMENTS or has_code:
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
        # Optuna only accepts plain values: lists, such as for hidden, are chosen by their index.
        index = trial.suggest_int(name, 0, len(range_["choices"]) - 1)
        return range_["choices"][index]
    low, high, log = range_["low"], range_["high"], range_.get("log", False)
    if type(low) is int and type(high) is int:
        return trial.suggest_int(name, low, high, log=log)
    return trial.suggest_float(name, low, high, log=log)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL
