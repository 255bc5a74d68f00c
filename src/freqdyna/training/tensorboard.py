"""Evaluation metrics as TensorBoard events (extra `tensorboard`)."""

import math
from pathlib import Path

import numpy as np

from freqdyna.results.complete_seeds import DIVERGED_AT


class Events:
    """Writes the mean of every metric over complete seeds, and the return of each seed.

    Args:
        folder: The run folder.
        first_seed: The first seed.
        last_step: The step of the last evaluation before; later ones that were written by a process
            that was killed, or before the run was extended, are replaced.

    """

    def __init__(self, folder: Path, first_seed: int, last_step: int) -> None:
        from tensorboardX import SummaryWriter

        self._first_seed = first_seed
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=last_step + 1)

    def write(self, step: int, metrics: dict[str, np.ndarray], kept: np.ndarray) -> None:
        """Add one evaluation, except for numbers that are not finite.

        Args:
            step: The evaluated step.
            metrics: Each of shape (seeds,).
            kept: Which seeds have neither diverged nor stopped, shape (seeds,); the number of the
                others is written as `seeds/left out`.

        """
        numbers = {
            f"mean/{name}": float(values[kept].mean())
            for name, values in metrics.items()
            if kept.any() and name != DIVERGED_AT
        }
        numbers["seeds/left out"] = float((~kept).sum())
        for row, value in enumerate(metrics["return"]):
            numbers[f"return/seed {self._first_seed + row}"] = float(value)
        for name, number in numbers.items():
            if math.isfinite(number):  # not the loss during the warm-up, for example
                self._writer.add_scalar(name, number, step)

    def close(self) -> None:
        """Write the remaining events and close the file."""
        self._writer.close()
