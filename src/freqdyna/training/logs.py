"""The numbers of each evaluation for TensorBoard and for Weights & Biases (extras of the package).

Both show them while a run trains.
"""

import math
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.envs.names import env_label
from freqdyna.results.record import DIVERGED_AT

PROJECT = "freqdyna"
"""The project at Weights & Biases, unless the environment variable WANDB_PROJECT names another."""
WANDB_RUN = "wandb_run"
"""The key of the id there in the provenance, so that a resumed run continues it."""


class TensorBoardLog:
    """Writes scalars to the run folder; those after `last_step`, of a killed process, go."""

    def __init__(self, folder: Path, last_step: int) -> None:
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=last_step + 1)

    def write(self, step: int, numbers: dict[str, float]) -> None:
        """Add the numbers of one evaluation."""
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, step)

    def close(self) -> None:
        """Write the remaining events and close the file."""
        self._writer.close()


class WandbLog:
    """Sends numbers to Weights & Biases, with its id in the provenance.

    `wandb`'s environment variables apply: with WANDB_MODE=offline, everything stays in a folder.
    """

    def __init__(self, config: Config, provenance: dict[str, Any], folder: Path | None) -> None:
        import wandb

        provenance.setdefault(WANDB_RUN, secrets.token_hex(8))
        try:
            self._run: Any = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                name=folder.name if folder else f"{config.agent_name} on {env_label(config)}",
                id=provenance[WANDB_RUN],
                resume="allow",
                dir=str(folder) if folder else None,
                config=config.flat(),
            )
        except Exception as error:  # such as without a network, or if nobody is logged in
            raise FreqdynaError(
                f"wandb is True, but wandb.init failed: {one_line(error)}; log in with `wandb "
                "login`, or set WANDB_MODE=offline"
            ) from error

    def write(self, step: int, numbers: dict[str, float]) -> None:
        """Add the numbers of one evaluation."""
        self._run.log(numbers, step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()


def logged_numbers(
    metrics: dict[str, np.ndarray], seeds: np.ndarray, kept: np.ndarray
) -> dict[str, float]:
    """The mean of every metric over complete seeds, and the return of each seed.

    Numbers that are not finite are omitted, such as the loss during the warm-up. All arrays have
    shape (seeds,); `kept` says which seeds have neither diverged nor stopped.
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
