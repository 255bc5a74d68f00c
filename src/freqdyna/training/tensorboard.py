"""Evaluation metrics as TensorBoard events (extra `tensorboard`)."""

from pathlib import Path

import numpy as np


class Events:
    """Writes the mean over seeds of every metric, and the return of each seed."""

    def __init__(self, folder: Path, first_seed: int, first_step: int) -> None:
        from tensorboardX import SummaryWriter

        self._first_seed = first_seed
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=first_step + 1)

    def write(self, step: int, metrics: dict[str, np.ndarray]) -> None:
        """Add one evaluation: an array of shape (seeds,) for each metric."""
        for name, values in metrics.items():
            self._writer.add_scalar(f"mean/{name}", float(values.mean()), step)
        for row, value in enumerate(metrics["return"]):
            self._writer.add_scalar(f"return/seed {self._first_seed + row}", float(value), step)

    def close(self) -> None:
        """Write the remaining events and close the file."""
        self._writer.close()
