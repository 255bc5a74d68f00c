"""Evaluation metrics in Weights & Biases (extra `wandb`)."""

import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.training.evaluation_log import EvaluationLog

PROJECT = "freqdyna"
"""The project, unless the environment variable WANDB_PROJECT names another."""
WANDB_RUN = "wandb_run"
"""The key of the run's id in the provenance, so that a resumed run continues it."""


class WandbNotStartedError(FreqdynaError):
    """Weights & Biases could not be started, so nothing was trained."""


class WandbLog(EvaluationLog):
    """Sends the numbers of evaluations to Weights & Biases.

    `wandb`'s environment variables apply: with WANDB_MODE=offline, everything stays in a folder.

    Args:
        config: The settings of the run, which are stored with it.
        provenance: The provenance of the run; the id is added to it.
        folder: The run folder, or None.

    Raises:
        WandbNotStartedError: If `wandb.init` fails.

    """

    def __init__(self, config: Config, provenance: dict[str, Any], folder: Path | None) -> None:
        import os

        import wandb

        provenance.setdefault(WANDB_RUN, secrets.token_hex(8))
        name = f"{config.agent_name} on {config.env_name}" if folder is None else folder.name
        try:
            self._run: Any = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                name=name,
                id=provenance[WANDB_RUN],
                resume="allow",
                dir=None if folder is None else str(folder),
                config=asdict(config),
            )
        except Exception as error:  # such as without a network, or if nobody is logged in
            raise WandbNotStartedError(
                f"wandb is True, but wandb.init failed: {one_line(error)}; log in with `wandb "
                "login`, or set WANDB_MODE=offline"
            ) from error

    def write(self, step: int, numbers: dict[str, float]) -> None:
        """Add the numbers of one evaluation."""
        self._run.log(numbers, step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()
