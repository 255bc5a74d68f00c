"""The metrics of a run's evaluations so far."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from freqdyna.config import Config
from freqdyna.results.complete_seeds import (
    DIVERGED_AT,
    CompleteSeeds,
    complete_seeds,
    mark_diverged,
)
from freqdyna.results.record import evaluation_steps
from freqdyna.training.progress import LastEvaluation


@dataclass
class Curves:
    """The metrics of each evaluation so far."""

    config: Config
    rows: list[dict[str, np.ndarray]] = field(default_factory=list)
    """The metrics of each evaluation, each an array over seeds."""

    @property
    def seeds(self) -> np.ndarray:
        """The seeds, shape (seeds,)."""
        return np.arange(self.config.first_seed, self.config.first_seed + self.config.seeds)

    @property
    def steps(self) -> np.ndarray:
        """The steps of the evaluations so far."""
        return evaluation_steps(self.config.steps, self.config.eval_every)[: len(self.rows)]

    @property
    def steps_left(self) -> np.ndarray:
        """The steps of the evaluations to come."""
        return evaluation_steps(self.config.steps, self.config.eval_every)[len(self.rows) :]

    @property
    def last_step(self) -> int:
        """The step of the last evaluation; 0 before the first one."""
        return int(self.steps[-1]) if self.rows else 0

    def marked(
        self, metrics: dict[str, np.ndarray], step: int, parameters: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The metrics of a new evaluation without those of seeds that have diverged.

        Args:
            metrics: Each of shape (seeds,).
            step: The evaluated step.
            parameters: The current parameters, shape (seeds, p).

        """
        before = self.rows[-1][DIVERGED_AT] if self.rows else None
        return mark_diverged(metrics, step, parameters, before)

    def metrics(self) -> dict[str, np.ndarray]:
        """Each metric by name, shape (seeds, evaluations)."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        missing = np.full(self.config.seeds, np.nan)  # of a callback that was added or left out
        metrics = {
            name: np.stack([row.get(name, missing) for row in self.rows], axis=1) for name in names
        }
        return metrics

    def complete_seeds(self, stopped: Collection[int]) -> CompleteSeeds:
        """The seeds that have neither diverged nor stopped so far.

        Args:
            stopped: The seeds whose environment failed.

        """
        now = self.rows[-1]
        returns, diverged_at = now["return"][:, None], now[DIVERGED_AT][:, None]
        return complete_seeds(self.seeds, returns, diverged_at, stopped)

    def last_evaluation(self, stopped: Collection[int]) -> LastEvaluation | None:
        """What is shown of the last evaluation; None before the first one.

        Args:
            stopped: The seeds whose environment failed.

        """
        if not self.rows:
            return None
        complete = self.complete_seeds(stopped)
        returns = self.rows[-1]["return"][complete.kept]
        return LastEvaluation(
            step=self.last_step,
            mean_return=float(returns.mean()) if len(returns) else None,
            left_out=complete.text("seeds") if complete.left_out else "",
        )
