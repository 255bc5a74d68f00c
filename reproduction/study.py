"""A part of the paper: its units of work, what is stored of them, and how analyses read it.

A unit is a training, which `freqdyna.sweeps` computes, or a small table, which a function computes.
Analyses only use what is stored, so that figures and tables are drawn without computing anything.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from freqdyna.config import Config
from freqdyna.results.chart import Chart
from freqdyna.results.record import DIVERGED_AT, Record
from freqdyna.results.result import Result
from freqdyna.results.statistics import first_step_above
from reproduction import states as maze_states
from reproduction.claims import Claim
from reproduction.settings import complete

G = TypeVar("G", bound=Hashable)
K = TypeVar("K", bound=Hashable)
Columns = dict[str, np.ndarray]
"""A table: columns of the same length by name."""

SEEDS, STEPS = 30, 50_000
KEY_SEEDS = 100
"""Seeds of the trainings on which the main claims rest: the cells of figures 3 and 4."""
KEY_ALGORITHMS = {
    "MountainCar-v0": ("er", "prioritized-er", "dyna-value", "dyna-frequency"),
    "MazeGridWorld": ("dyna-value", "dyna-frequency"),
}
KEY_SETTINGS = {
    "MountainCar-v0": {
        *("model", "planning_steps", "env.reward_noise", "learn_in_warmup"),
        *("learner.activation", "scale_observations"),
    },
    "MazeGridWorld": {
        *("env.walls_in_state_space", "env.collision"),
        *("search_control.boundary", "search_control.preconditioner"),
    },
}
QUICK = {"seeds": 3, "steps": 400, "warmup_steps": 100, "env.episode_limit": 100, "eval_every": 40}
METRICS = (
    *("return", "climb_iterations", "climb_vanished"),
    *("climb_vanished_frequency", "climb_vanished_value", DIVERGED_AT),
)
"""The metrics that are stored for each evaluation."""
PAPERS_STEP = 56_000
"""States of longer trainings are also kept at this step, which names the paper's figure files."""


@dataclass(frozen=True)
class Unit:
    """One piece of work: a training, or a small table."""

    name: str
    settings: dict[str, Any]
    """Everything that affects the numbers: for a training, what it states in addition to the
    tables of `settings`; for a table, anything that JSON can represent."""
    table: Callable[[], Columns] | None = None
    """Computes the table; None for a training."""
    keep: Callable[[Record], Columns] | None = None
    """What is stored of a training; None for its learning curves."""

    @cached_property
    def config(self) -> Config:
        """The configuration of a training, with every setting."""
        return complete(self.settings)


@dataclass(frozen=True)
class Stored:
    """A stored unit."""

    unit: Unit
    columns: Columns
    provenance: dict[str, Any]
    """Command, commit, versions, machine, date and seconds."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the unit states, see `Unit.settings`."""
        return self.unit.settings

    @cached_property
    def record(self) -> Result | None:
        """The training and its learning curves; None if these are not stored."""
        if self.unit.table is not None or self.unit.keep is not None:
            return None
        seeds, first = np.unique(self.columns["seed"], return_index=True)
        shape = len(seeds), len(self.columns["seed"]) // len(seeds)
        return Result(
            config=self.unit.config,
            provenance=self.provenance,
            seeds=self.columns["seed"][np.sort(first)],
            steps=self.columns["step"][: shape[1]],
            metrics={
                name: values.reshape(shape)
                for name, values in self.columns.items()
                if name in METRICS or name in maze_states.MEASURES
            },
            parameters=np.empty((len(seeds), 0), np.float32),
            layer_sizes=(),
        )


@dataclass(frozen=True)
class Findings:
    """The result of an analysis."""

    chart: Chart
    claims: Sequence[Claim]
    summary: Sequence[Sequence[str]] = field(default=())
    """A table of statistics, the header first; may be empty."""
    notes: Sequence[str] = field(default=())
    """Sentences about open choices of the paper, and about the interpretation of the results."""
    further: Sequence[Sequence[Sequence[str]]] = field(default=())
    """More tables like `summary`."""


@dataclass(frozen=True)
class Part:
    """One figure or statement of the paper, or one of our own checks."""

    name: str
    title: str
    duration: str
    """At full size on 2 cores."""
    units: Callable[[bool], list[Unit]]
    """The units of work; with True, those of a quick run of less than a minute."""
    analyse: Callable[[dict[str, Stored]], Findings]
    """From stored units by name to findings."""


def training(quick: bool, keep: Callable[[Record], Columns] | None = None, **settings: Any) -> Unit:
    """A training as a unit, named after its settings; `preset` may be "published"."""
    seeds = KEY_SEEDS if _is_key(settings) else SEEDS
    settings = {"seeds": seeds, "steps": STEPS, **settings} | (QUICK if quick else {})
    named = {k: v for k, v in settings.items() if k not in ("env", "algorithm", "seeds", "steps")}
    parts = [settings["env"], settings["algorithm"]]
    parts += [f"{key.replace('_', '-')}-{named[key]}" for key in sorted(named)]
    steps = settings["steps"]
    if steps not in (STEPS, QUICK["steps"]):
        parts.append(f"steps-{steps}")
    if keep is None and settings["env"] == maze_states.MAZE:
        settings["snapshot_steps"] = (PAPERS_STEP, steps) if steps > PAPERS_STEP else (steps,)
    return Unit("-".join(parts), settings, keep=keep)


def _is_key(settings: dict[str, Any]) -> bool:
    env, others = settings["env"], settings.keys() - {"env", "algorithm"}
    return settings["algorithm"] in KEY_ALGORITHMS.get(env, ()) and others <= KEY_SETTINGS[env]


def curves_of(record: Record) -> Columns:
    """What is stored of a training by default: its learning curves, one row per evaluation."""
    seeds, evaluations = record.returns.shape
    columns: Columns = {
        "seed": np.repeat(record.seeds.astype(np.int32), evaluations),
        "step": np.tile(record.steps.astype(np.int32), seeds),
    }
    for name in METRICS:
        if name in record.metrics:
            kind = np.int32 if name == DIVERGED_AT else np.float32
            columns[name] = record.metrics[name].astype(kind).ravel()
    if record.snapshots:
        columns |= maze_states.columns_of(record)
    return columns


def pick(units: dict[str, Stored], longer: bool = False, **settings: Any) -> Stored | None:
    """The training that states exactly this, of any size; if `longer`, of more than STEPS."""
    size = {"seeds", "steps", "snapshot_steps", *QUICK}
    for stored in units.values():
        settings_of_task = {k: v for k, v in stored.settings.items() if k not in size}
        if settings_of_task == settings and longer == (stored.settings.get("steps", 0) > STEPS):
            return stored
    return None


def grouped(
    units: dict[str, Stored],
    groups: Iterable[G],
    keys: Collection[K],
    settings: Callable[[G, K], dict[str, Any]],
    longer: bool = False,
) -> dict[G, dict[K, Stored]]:
    """The stored trainings by group and key, from what they state; empty groups are omitted."""
    measures = {
        group: {key: one for key in keys if (one := pick(units, longer, **settings(group, key)))}
        for group in groups
    }
    return {group: of for group, of in measures.items() if of}


def training_of(stored: Stored) -> Result:
    """The training of a unit whose learning curves are stored, with all of its seeds."""
    assert stored.record is not None, "the unit has no learning curves"
    return stored.record


def curves(stored: Stored, metric: str = "return") -> tuple[np.ndarray, np.ndarray]:
    """The evaluated steps, and a metric of shape (seeds, evaluations).

    Seeds that diverged or stopped are left out here, and therefore in everything below.
    """
    record = training_of(stored)
    kept = record.complete_seeds.kept
    return record.steps, record.metrics[metric][kept].astype(np.float64)


def seeds_of(stored: Stored) -> np.ndarray:
    """The seeds of the rows of `curves`, shape (seeds,)."""
    record = training_of(stored)
    return record.seeds[record.complete_seeds.kept]


def measured(stored: Stored, measure: str, step: int | None = None) -> np.ndarray:
    """One of `states.MEASURES` of each seed at a step, by default the last, shape (seeds,)."""
    steps, values = curves(stored, measure)
    return values[:, -1] if step is None else values[:, steps == step][:, 0]


def states(stored: Stored, store: str) -> np.ndarray:
    """The states of "queue" or "replay" of the median seed at the end, shape (states, 2)."""
    lists = [values for values in stored.columns[store] if values is not None]
    return np.asarray(lists[-1], np.float64).reshape(-1, 2)


def area(stored: Stored) -> np.ndarray:
    """The mean return of each seed after the warm-up (the area under its curve), shape (seeds,)."""
    _, returns = curves(stored)
    return returns[:, training_of(stored).after_warmup].mean(axis=1)


def final(stored: Stored) -> np.ndarray:
    """The mean return of each seed in the last tenth of its steps, shape (seeds,)."""
    steps, returns = curves(stored)
    return returns[:, steps > steps[-1] * 0.9].mean(axis=1)


def unlearned(stored: Stored) -> np.ndarray:
    """Which seeds have not learned: their final return is below −1500, with a minimum of −2000."""
    return final(stored) < -1500


def steps_to(stored: Stored, threshold: float) -> np.ndarray:
    """The step of each seed's first evaluation above a threshold; infinite if there is none."""
    steps, returns = curves(stored)
    return first_step_above(steps, returns, threshold)
