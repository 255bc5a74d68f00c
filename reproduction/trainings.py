"""Trainings as units of work, which are stored once and shared by several experiments."""

import json
import shutil
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from freqdyna.config import VERSION, Config
from freqdyna.config.presets import preset_settings
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.results import run_folder
from freqdyna.results.complete_seeds import DIVERGED_AT
from freqdyna.results.record import Record
from freqdyna.training import api
from freqdyna.training.prepare import prepare_runs_together
from freqdyna.training.progress import LastEvaluation, Progress
from freqdyna.training.saver import RunOptions
from reproduction.base import Experiment, Unit, Work
from reproduction.store import TRAININGS

PRESET = "v0.1"
"""The preset of all trainings, so that changing a default does not change a figure.

The stored trainings were computed with these settings. Unless a training sets `learn_in_warmup`,
updates begin with the first step on MountainCar and after the warm-up elsewhere.
"""
SEEDS, STEPS = 30, 50_000
KEY_SEEDS = 100
"""Seeds of the trainings on which the main claims rest: the cells of figures 3 and 4."""
KEY_ALGORITHMS = {
    "MountainCar-v0": ("er", "prioritized-er", "dyna-value", "dyna-frequency"),
    "MazeGridWorld": ("dyna-value", "dyna-frequency"),
}
KEY_SETTINGS = {
    "MountainCar-v0": {
        *("model", "planning_steps", "reward_noise", "learn_in_warmup"),
        *("activation", "scale_observations"),
    },
    "MazeGridWorld": {
        *("walls_in_state_space", "collision"),
        *("climb_boundary", "climb_preconditioner"),
    },
}
QUICK = {"seeds": 3, "steps": 400, "warmup_steps": 100, "episode_limit": 100, "eval_every": 40}
METRICS = (
    *("return", "climb_iterations", "climb_restarts", "climb_vanished", "model_error"),
    *("climb_vanished_frequency", "climb_vanished_value", DIVERGED_AT, "model_error_queue"),
)
"""The metrics that are stored for each evaluation; older trainings lack those of the last line."""
ROWS = ("learning_rate", "reward_noise", "target_period")
"""Settings in which trainings may differ that are computed together."""
CHECKPOINT_SECONDS = 300.0
"""Of trainings that are computed together, whose state is large."""
STATES = 1000
"""States stored per seed from queue and replay buffer: as many as the paper shows (figure 5)."""
PAPERS_STEP = 56_000
"""States of longer trainings are also stored at this step, which names the paper's figure files."""
DRAWN = "MazeGridWorld"
"""The environment whose states are shown in a figure; for others, no states are stored."""


def training(quick: bool, **settings: Any) -> Unit:
    """A training as a unit, named after its settings.

    Args:
        quick: Whether to use a much smaller size than the paper.
        **settings: Settings that differ from PRESET, or the name of another `preset`.

    """
    seeds = KEY_SEEDS if _is_key(settings) else SEEDS
    settings = {"seeds": seeds, "steps": STEPS, **settings} | (QUICK if quick else {})
    named = {k: v for k, v in settings.items() if k not in ("env", "algorithm", "seeds", "steps")}
    parts = [settings["env"], settings["algorithm"]]
    parts += [f"{key.replace('_', '-')}-{named[key]}" for key in sorted(named)]
    if settings["steps"] not in (STEPS, QUICK["steps"]):
        parts.append(f"steps-{settings['steps']}")
    return Unit(
        "-".join(parts),
        settings,
        _Train(settings, stores_states=settings["env"] == DRAWN),
        folder=TRAININGS,
        meaning=_config,
    )


def _config(settings: dict[str, Any]) -> Config:
    """The configuration of a training with these settings."""
    return Config.of(_without_preset(settings), preset=PRESET)


def _without_preset(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings in which a training differs from PRESET; those of its `preset` are listed."""
    own = {name: value for name, value in settings.items() if name != "preset"}
    if "preset" not in settings:
        return own
    return preset_settings(settings["preset"], own["env"], own["algorithm"], VERSION) | own


def _is_key(settings: dict[str, Any]) -> bool:
    env, others = settings["env"], settings.keys() - {"env", "algorithm"}
    return settings["algorithm"] in KEY_ALGORITHMS.get(env, ()) and others <= KEY_SETTINGS[env]


def with_seeds(unit: Unit, seeds: int) -> Unit:
    """The same training with another number of seeds."""
    assert isinstance(unit.compute, _Train)
    settings = unit.settings | {"seeds": seeds}
    return replace(unit, settings=settings, compute=replace(unit.compute, settings=settings))


def only_curves(unit: Unit) -> Unit:
    """The same training, of which neither states nor parameters are stored."""
    assert isinstance(unit.compute, _Train)
    compute = replace(unit.compute, stores_states=False, stores_parameters=False)
    return replace(unit, compute=compute)


def together(units: list[Unit]) -> list[Unit]:
    """Units that compute all of these; trainings that differ only in `ROWS` become one program.

    On a GPU, hundreds of rows of one program take little more time than the seeds of one training.
    """
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        same = {name: value for name, value in unit.settings.items() if name not in ROWS}
        # Rows of a program have no snapshots.
        alone = not isinstance(unit.compute, _Train) or unit.compute.stores_states
        groups.setdefault(unit.name if alone else json.dumps(same), []).append(unit)
    return [_program(members) if len(members) > 1 else members[0] for members in groups.values()]


def _program(members: list[Unit]) -> Unit:
    name = f"{members[0].name}-and-{len(members) - 1}-more"
    trainings = [unit.compute for unit in members if isinstance(unit.compute, _Train)]
    return Unit(
        name,
        {"members": [unit.settings for unit in members]},
        partial(_train_together, trainings),
        folder=TRAININGS,
        members=tuple(members),
    )


def is_of_trainings(experiment: Experiment) -> bool:
    """Whether all units of the experiment are trainings."""
    return all(unit.folder == TRAININGS for unit in experiment.units(False))


def check_seeds(experiment: Experiment, seeds: int) -> None:
    """Raise an error if the number of seeds of the experiment cannot be changed."""
    if is_of_trainings(experiment):
        return
    own = [unit.settings["seeds"] for unit in experiment.units(False) if "seeds" in unit.settings]
    has = f"has its own number of seeds, {own[0]}" if own else "has no seeds"
    raise FreqdynaError(
        f"seeds is {seeds}; {experiment.name} {has}: --seeds is for experiments "
        "that consist of trainings"
    )


@dataclass(frozen=True)
class _Train:
    """The computation of a training."""

    settings: dict[str, Any]
    stores_states: bool
    stores_parameters: bool = True

    def __call__(self, work: Work) -> Record:
        """Train, or resume if there is a checkpoint."""
        steps = self.settings["steps"]
        folder, progress = work.folder / "run", _Reporting(work, steps)
        if (folder / run_folder.CONFIG).is_file():
            result = api.resume(folder, progress=progress)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            snapshots = (*([PAPERS_STEP] if steps > PAPERS_STEP else []), steps)
            result = api.train(
                out=folder,
                preset=PRESET,
                snapshot_steps=snapshots if self.stores_states else (),
                progress=progress,
                **_without_preset(self.settings),
            )
        return trimmed(result, self.stores_parameters)


def _train_together(trainings: list[_Train], work: Work) -> list[Record]:
    folder, progress = work.folder / "run", _Reporting(work, trainings[0].settings["steps"])
    folder.mkdir(exist_ok=True)
    configs = [resolved_by_name(_config(one.settings)) for one in trainings]
    run = prepare_runs_together(configs)
    result = run.execute(folder, RunOptions(True, False, False, CHECKPOINT_SECONDS), progress)
    seeds = configs[0].seeds
    rows = [result.rows(config, i * seeds) for i, config in enumerate(configs)]
    pairs = zip(rows, trainings, strict=True)
    return [trimmed(record, one.stores_parameters) for record, one in pairs]


class _Reporting(Progress):
    """Reports the progress of a training as that of its unit."""

    def __init__(self, work: Work, steps: int) -> None:
        self._work, self._steps = work, steps

    def note(self, text: str) -> None:
        """Do nothing: the unit has a name."""

    def warn(self, text: str) -> None:
        """Pass on the warning."""
        self._work.display.warn(text)

    def start(self) -> None:
        """Do nothing: time is measured from the first report."""

    def update(self, step: int, last: LastEvaluation | None) -> None:
        """Report the step."""
        self._work.report(step, self._steps, last.text() if last else "")


def trimmed(record: Record, with_parameters: bool = True) -> Record:
    """What is stored of a training: curves, parameters, and states of replay buffer and queue.

    States and parameters are rounded to three digits, which is enough for any figure and halves the
    size.

    Args:
        record: The training.
        with_parameters: Whether to store the parameters.

    """
    snapshots = {
        step: {
            name: values[:, :STATES].astype(np.float16)
            for name, values in snapshot.items()
            if name in ("queue", "replay")
        }
        for step, snapshot in record.snapshots.items()
    }
    metrics = {
        name: record.metrics[name].astype(np.int32 if name == DIVERGED_AT else np.float32)
        for name in METRICS
        if name in record.metrics
    }
    parameters = record.parameters[:, : None if with_parameters else 0].astype(np.float16)
    return replace(record, metrics=metrics, snapshots=snapshots, parameters=parameters)
