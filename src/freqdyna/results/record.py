"""The data of a training: curves of all seeds, trained parameters, configuration, provenance."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.complete_seeds import DIVERGED_AT, CompleteSeeds, complete_seeds

IMPORTED = "imported"
"""The key of what is known about imported curves in their provenance."""
TRAINING_RETURNS = "of training episodes, with exploration"
"""What imported returns are if they are not of evaluations."""


INIT_FROM = "init_from"
"""The key of what the provenance says about the run with whose parameters a run began."""
Snapshots = dict[int, dict[str, np.ndarray]]
"""The arrays of each snapshot, by step."""
CUSTOM_METRICS = "custom_metrics"
"""The key of the names of custom metrics in the provenance of a run."""


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

    Those of a seed that diverged or stopped are NaN from there on, except for `diverged_at` and the
    `model_non_finite` of a seed that diverged.
    """
    parameters: np.ndarray
    """The trained parameters, one flat vector per seed, shape (seeds, parameters)."""
    layer_sizes: tuple[int, ...]
    """Widths of the network's layers, from the observation size to the number of outputs."""
    snapshots: Snapshots = field(default_factory=dict)
    """The snapshot after each of `snapshot_steps`; `docs/metrics.md` describes its arrays."""

    @property
    def returns(self) -> np.ndarray:
        """The evaluation returns, shape (seeds, evaluations)."""
        return self.metrics["return"]

    @property
    def complete_seeds(self) -> CompleteSeeds:
        """The seeds that statistics are computed over: those that neither diverged nor stopped."""
        ended = self.provenance.get("ended")
        # The provenance of a foreign file may contain anything.
        listed = ended if isinstance(ended, dict) else {}
        stopped = [seed for seed in self.seeds.tolist() if str(seed) in listed]
        return complete_seeds(self.seeds, self.returns, self.metrics.get(DIVERGED_AT), stopped)

    @property
    def imported_from(self) -> str | None:
        """The files that the curves were imported from; None for a training of freqdyna."""
        facts = self.provenance.get(IMPORTED)
        if not isinstance(facts, dict):
            return None
        files = facts.get("files")
        listed = files if isinstance(files, list) else []  # a crafted file may have anything
        names = [str(file.get("file")) for file in listed if isinstance(file, dict)]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{names[0] if names else 'an unknown file'}{more} ({facts.get('format')})"

    @property
    def has_training_returns(self) -> bool:
        """Whether imported returns are of training episodes, with exploration."""
        facts = self.provenance.get(IMPORTED)
        return isinstance(facts, dict) and facts.get("returns") == TRAINING_RETURNS

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
        return self.config.env_name

    @property
    def custom_metrics(self) -> list[str]:
        """The names of the metrics that callbacks returned."""
        names = self.provenance.get(CUSTOM_METRICS)
        # The provenance of a foreign file may contain anything.
        return [n for n in self.metrics if n in names] if isinstance(names, list) else []

    @property
    def after_warmup(self) -> np.ndarray:
        """Which evaluations are after the warm-up, not at its last step; shape (evaluations,)."""
        return self.steps > self.config.warmup_steps

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
        """A part of a run that trained several configurations as rows of one program.

        Args:
            config: The configuration of the part.
            first: Its first row; it has `config.seeds` rows.

        Returns:
            The record of that configuration alone, without snapshots.

        """
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
        mean = f"{last.mean():.1f}" if len(last) else f"none: {complete.none_left}"
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
