"""A task for worker processes, which import this file: quick to import, and quick to compute."""

import os
import signal
import time
from dataclasses import dataclass

from freqdyna.training.engines.base import Task


@dataclass(frozen=True)
class Fake(Task):
    """Kills its process if it is called deadly; else it computes nothing for a moment."""

    def compute(self) -> None:
        """Do that."""
        if self.name == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.5)
