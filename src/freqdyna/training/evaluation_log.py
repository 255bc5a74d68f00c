"""The numbers of an evaluation for programs that display them while a run trains."""

import abc
import math

import numpy as np

from freqdyna.results.complete_seeds import DIVERGED_AT


class EvaluationLog(abc.ABC):
    """Receives the numbers of each evaluation; it must be closed at the end."""

    @abc.abstractmethod
    def write(self, step: int, numbers: dict[str, float]) -> None:
        """Add the numbers of one evaluation, all of them finite."""

    @abc.abstractmethod
    def close(self) -> None:
        """Write what remains."""


def logged_numbers(
    metrics: dict[str, np.ndarray], seeds: np.ndarray, kept: np.ndarray
) -> dict[str, float]:
    """The mean of every metric over complete seeds, and the return of each seed.

    Numbers that are not finite are omitted, such as the loss during the warm-up.

    Args:
        metrics: Each of shape (seeds,).
        seeds: The seeds, shape (seeds,).
        kept: Which seeds have neither diverged nor stopped, shape (seeds,); the number of the
            others is `seeds/left_out`.

    """
    numbers = {
        f"mean/{name}": float(values[kept].mean())
        for name, values in metrics.items()
        if kept.any() and name != DIVERGED_AT
    }
    numbers["seeds/left_out"] = float((~kept).sum())
    numbers |= {
        f"return/seed_{seed}": float(value)
        for seed, value in zip(seeds, metrics["return"], strict=True)
    }
    return {name: number for name, number in numbers.items() if math.isfinite(number)}
