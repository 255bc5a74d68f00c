"""The rule for seeds that diverged or stopped: they are left out of every statistic over seeds.

A seed diverges when its loss or its parameters are not finite. From the first evaluation at which
that is known its metrics are missing (NaN), for good; only why it diverged is kept. A seed whose
environment fails stops, and its metrics are missing, too. `complete_seeds` is the only place that
decides which seeds are used. Leaving out seeds favours an unstable method, so `CompleteSeeds.text`
must be shown with the number.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

DIVERGED_AT = "diverged_at"
MODEL_NON_FINITE = "model_non_finite"
_KEPT = (DIVERGED_AT, MODEL_NON_FINITE)
"""The metrics of a diverged seed that are not missing. A model whose numbers grow makes the loss
overflow before it returns something that is not finite itself."""
_DIVERGED, _STOPPED, _OTHER = "diverged", "stopped", "without a finite return"


@dataclass(frozen=True)
class CompleteSeeds:
    """Which seeds statistics are computed over, and why the others are left out."""

    kept: np.ndarray
    """Booleans, shape (seeds,)."""
    left_out: dict[str, int]
    """The number of seeds that are left out, by reason; empty if there are none."""

    @property
    def number(self) -> str:
        """The number of seeds, such as "30", or "26 of 30" if some are left out."""
        total = len(self.kept)
        return f"{total}" if self.kept.all() else f"{self.kept.sum()} of {total}"

    @property
    def reasons(self) -> str:
        """Why seeds are left out, such as "3 diverged, 1 stopped"; empty if none is."""
        return ", ".join(f"{number} {reason}" for reason, number in self.left_out.items())

    def text(self, noun: str = "") -> str:
        """The number of seeds and the reasons, such as "26 of 30; 3 diverged, 1 stopped".

        Args:
            noun: Follows the number, such as "seeds", which is "seed" if there is only one.

        """
        noun = noun.removesuffix("s") if len(self.kept) == 1 else noun
        counted = f"{self.number} {noun}" if noun else self.number
        return f"{counted}; {self.reasons}" if self.left_out else counted

    @property
    def none_left(self) -> str:
        """What to show instead of a number if no seed is left, such as "all 3 seeds diverged"."""
        total = len(self.kept)
        seeds = f"all {total} seeds" if total > 1 else "the only seed"
        return f"{seeds} {' or '.join(self.left_out)}"


def complete_seeds(
    seeds: np.ndarray,
    returns: np.ndarray,
    diverged_at: np.ndarray | None,
    stopped: Collection[int] = (),
) -> CompleteSeeds:
    """The seeds with a finite return at every evaluation; only these are used in statistics.

    Args:
        seeds: The seeds, shape (seeds,).
        returns: Shape (seeds, evaluations).
        diverged_at: The metric of that name, of the same shape; None if it was not stored.
        stopped: The seeds whose environment failed.

    """
    kept = np.isfinite(returns).all(axis=1)
    diverged = np.zeros(len(seeds), bool) if diverged_at is None else (diverged_at >= 0).any(axis=1)
    failed = np.isin(seeds, list(stopped)) & ~diverged
    counts = {
        _DIVERGED: int((~kept & diverged).sum()),
        _STOPPED: int((~kept & failed).sum()),
        _OTHER: int((~kept & ~diverged & ~failed).sum()),
    }
    return CompleteSeeds(kept, {reason: number for reason, number in counts.items() if number})


def mark_diverged(
    metrics: dict[str, np.ndarray],
    step: int,
    parameters: np.ndarray,
    before: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """The metrics of one evaluation without those of seeds that have diverged.

    The parameters are checked, too, because the last update before the evaluation may be the one
    that makes them infinite.

    Args:
        metrics: Each of shape (seeds,).
        step: The evaluated step.
        parameters: The current parameters, shape (seeds, p).
        before: `diverged_at` of the evaluation before; None if this is the first one.

    """
    at = metrics[DIVERGED_AT]
    if before is not None:
        at = np.where(before >= 0, before, at)
    finite = np.isfinite(parameters).all(axis=1)
    at = np.where((at < 0) & ~finite, step, at).astype(at.dtype)
    return _without(metrics | {DIVERGED_AT: at}, at >= 0)


def _without(metrics: dict[str, np.ndarray], missing: np.ndarray) -> dict[str, np.ndarray]:
    """The metrics, except for `_KEPT`, with NaN where `missing` is set."""
    if not missing.any():
        return metrics
    found = {}
    for name, values in metrics.items():
        if name not in _KEPT:
            values = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
            values[missing] = np.nan
        found[name] = values
    return found
