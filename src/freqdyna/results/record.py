"""The data of a training, and which of its seeds count.

A seed diverges when its loss or its parameters are not finite. From the first evaluation at which
that is known its metrics are missing (NaN), for good; only why it diverged is kept. A seed whose
environment fails stops, and its metrics are missing, too. `complete_seeds` is the only place that
decides which seeds are used. Leaving out seeds favours an unstable method, so `CompleteSeeds.text`
must be shown with the number.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.names import env_label

IMPORTED = "imported"
"""The key of what is known about imported curves in their provenance."""
TRAINING_RETURNS = "of training episodes, with exploration"
"""What imported returns are if they are not of evaluations."""
INIT_FROM = "init_from"
"""The key of what the provenance says about the run with whose parameters a run began."""
CUSTOM_METRICS = "custom_metrics"
"""The key of the names of custom metrics in the provenance of a run."""
Snapshots = dict[int, dict[str, np.ndarray]]
"""The arrays of each snapshot, by step."""
SECONDS = "seconds"
"""The metric of the wall-clock time; the only one that differs when a run is repeated."""
DIVERGED_AT = "diverged_at"
MODEL_NON_FINITE = "model_non_finite"
_KEPT = {DIVERGED_AT, MODEL_NON_FINITE, SECONDS}
"""The metrics of a diverged seed that are not missing. A model whose numbers grow makes the loss
overflow before it returns something that is not finite itself."""


@dataclass(frozen=True)
class CompleteSeeds:
    """Which seeds statistics are computed over, and why the others are left out."""

    kept: np.ndarray
    """Booleans, shape (seeds,)."""
    left_out: dict[str, int]
    """The number of seeds that are left out, by reason; empty if there are none."""

    def text(self, noun: str = "") -> str:
        """The number of seeds and the reasons, such as "26 of 30 seeds; 3 diverged, 1 stopped"."""
        total = len(self.kept)
        number = f"{total}" if self.kept.all() else f"{self.kept.sum()} of {total}"
        noun = noun.removesuffix("s") if total == 1 else noun
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        return f"{number} {noun}".rstrip() + (f"; {reasons}" if reasons else "")


def complete_seeds(
    seeds: np.ndarray,
    returns: np.ndarray,
    diverged_at: np.ndarray | None,
    stopped: Collection[int] = (),
) -> CompleteSeeds:
    """The seeds with a finite return at every evaluation; only these are used in statistics.

    `diverged_at` is the metric of that name; the environment of the seeds in `stopped` failed.
    """
    kept = np.isfinite(returns).all(axis=1)
    diverged = np.zeros(len(seeds), bool) if diverged_at is None else (diverged_at >= 0).any(axis=1)
    failed = np.isin(seeds, list(stopped)) & ~diverged
    counts = {
        "diverged": int((~kept & diverged).sum()),
        "stopped": int((~kept & failed).sum()),
        "not finite": int((~kept & ~diverged & ~failed).sum()),
    }
    return CompleteSeeds(kept, {reason: number for reason, number in counts.items() if number})


def mark_diverged(
    metrics: dict[str, np.ndarray],
    step: int,
    parameters: np.ndarray,
    before: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """The metrics of one evaluation, each of shape (seeds,), without those of diverged seeds.

    `before` is `diverged_at` of the evaluation before. The parameters are checked, too, because the
    last update before the evaluation may be the one that makes them infinite.
    """
    at = metrics[DIVERGED_AT]
    if before is not None:
        at = np.where(before >= 0, before, at)
    finite = np.isfinite(parameters).all(axis=1)
    at = np.where((at < 0) & ~finite, step, at).astype(at.dtype)
    marked = metrics | {DIVERGED_AT: at}
    for name in marked.keys() - _KEPT if (at >= 0).any() else ():
        values = metrics[name]
        marked[name] = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
        marked[name][at >= 0] = np.nan
    return marked


@dataclass(frozen=True)
class Record:
    """Everything that is stored about a training; `Result` adds operations on it."""

    config: Config
    provenance: dict[str, Any]
    """Versions, commit, machine and date of the run."""
    seeds: np.ndarray
    """The seeds, shape (seeds,)."""
    steps: np.ndarray
    """The environment steps at which the seeds were evaluated, shape (evaluations,)."""
    metrics: dict[str, np.ndarray]
    """Each metric by name, shape (seeds, evaluations); `docs/metrics.md` defines them.

    Those of a seed that diverged or stopped are NaN from there on, except for `diverged_at`,
    `seconds`, and the `model_non_finite` of a seed that diverged.
    """
    parameters: np.ndarray
    """The trained parameters, one flat vector per seed, shape (seeds, parameters)."""
    layer_sizes: tuple[int, ...]
    """Widths of the network's layers, from the observation size to the number of outputs."""
    snapshots: Snapshots = field(default_factory=dict)
    """The snapshot after each of `snapshot_steps`; `docs/metrics.md` describes its arrays."""
    environment: Any = field(default=None, compare=False)
    """The environment that was passed to `train` in Python; it is not stored."""

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the environment, which perhaps cannot be."""
        return self.__dict__ | {"environment": None}

    @property
    def returns(self) -> np.ndarray:
        """The evaluation returns, shape (seeds, evaluations)."""
        return self.metrics["return"]

    @property
    def complete_seeds(self) -> CompleteSeeds:
        """The seeds that statistics are computed over: those that neither diverged nor stopped."""
        stopped = [int(seed) for seed in self.provenance.get("ended", {})]
        return complete_seeds(self.seeds, self.returns, self.metrics.get(DIVERGED_AT), stopped)

    @property
    def imported_from(self) -> str | None:
        """The files that the curves were imported from; None for a training of freqdyna."""
        facts = self.provenance.get(IMPORTED)
        if facts is None:
            return None
        names = [file["file"] for file in facts["files"]]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{names[0]}{more} ({facts['format']})"

    @property
    def has_training_returns(self) -> bool:
        """Whether imported returns are of training episodes, with exploration."""
        return bool(self.provenance.get(IMPORTED, {}).get("returns") == TRAINING_RETURNS)

    def require_agent(self) -> None:
        """Raise an error for imported curves, which come without a trained agent."""
        if (files := self.imported_from) is not None:
            raise FreqdynaError(
                f"{self.config.algorithm!r} was imported from {files}: it has learning curves, but "
                "no trained agent"
            )

    @property
    def env_name(self) -> str:
        """The environment, with what changes its task, such as "MountainCar-v0 (200 steps)"."""
        return env_label(self.config)

    @property
    def custom_metrics(self) -> list[str]:
        """The names of the metrics that callbacks returned."""
        return [n for n in self.metrics if n in self.provenance.get(CUSTOM_METRICS, [])]

    @property
    def after_warmup(self) -> np.ndarray:
        """Which evaluations are after the warm-up, not at its last step; shape (evaluations,)."""
        return self.steps > self.config.get("warmup_steps", 0)

    @property
    def before_learning(self) -> np.ndarray:
        """Which evaluations are of an untrained policy; shape (evaluations,)."""
        warmup = 0 if self.config.get("learn_in_warmup") else self.config.get("warmup_steps", 0)
        return self.steps <= warmup

    def along(self, x: str) -> np.ndarray:
        """The "steps" or "seconds" (mean over seeds) of the evaluations, shape (evaluations,)."""
        if x not in ("steps", SECONDS):
            raise FreqdynaError(f"x is {x!r}; it must be 'steps' or 'seconds'")
        if x == "steps":
            return self.steps
        if SECONDS not in self.metrics:
            raise FreqdynaError(
                f"x is {x!r}, but {self.config.agent_name} on {self.env_name} has no wall-clock "
                "times; it must be 'steps'"
            )
        return np.asarray(self.metrics[SECONDS].mean(axis=0))

    def mean_return(self, first_step: int | None = None) -> np.ndarray:
        """The mean evaluation return of each seed.

        Without an argument it is the "return after the warm-up" of every table and report.

        Args:
            first_step: Evaluations before this step are ignored; None to ignore those until the
                end of the warm-up. If no evaluation is left, the last one is used.

        Returns:
            Shape (seeds,); NaN for the seeds that `complete_seeds` leaves out.

        """
        used = self.after_warmup if first_step is None else self.steps >= first_step
        return self.returns[:, used if used.any() else [-1]].mean(axis=1)

    def rows(self, config: Config, first: int) -> "Record":
        """One configuration of a run that trained several as rows of one program."""
        chosen = slice(first, first + config.seeds)
        return replace(
            self,
            config=config,
            seeds=np.arange(config.first_seed, config.first_seed + config.seeds),
            metrics={name: values[chosen] for name, values in self.metrics.items()},
            parameters=self.parameters[chosen],
            snapshots={},
        )

    def seed_parameters(self, seed: SupportsInt) -> np.ndarray:
        """The trained parameters of one seed, shape (p,)."""
        self.require_agent()
        row = self.row(seed)
        if self.parameters.shape[1] == 0:
            raise FreqdynaError(f"{self!r} was stored without its parameters")
        return self.parameters[row]

    def row(self, seed: SupportsInt) -> int:
        """The row of a seed in `metrics` and `parameters`."""
        rows = np.flatnonzero(self.seeds == int(seed))
        if len(rows) == 0:
            raise FreqdynaError(f"seed is {seed}; it must be one of {self.seeds.tolist()}")
        return int(rows[0])

    def __repr__(self) -> str:
        complete = self.complete_seeds
        last = self.returns[complete.kept, -1]
        mean = f"{last.mean():.1f}" if len(last) else "none"
        return (
            f"{type(self).__name__}({self.config.agent_name} on {self.env_name}, "
            f"{complete.text('seeds')}, {self.steps[-1]:,} steps, last mean return {mean})"
        )


def return_name(records: Iterable[Record]) -> str:
    """What the returns of runs are: imported ones may be those of training episodes."""
    kinds = {record.has_training_returns for record in records}
    if len(kinds) > 1:
        return "return"
    return "return of training episodes" if kinds == {True} else "evaluation return"


def evaluation_steps(steps: int, eval_every: int) -> np.ndarray:
    """The steps after which a run is evaluated: every `eval_every`, and at the end."""
    return np.unique(np.append(np.arange(eval_every, steps + 1, eval_every), steps))
