"""How progress is shown, and how a run is saved to its folder."""

import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.results import run_folder
from freqdyna.results.record import Record
from freqdyna.training import checkpoint


@dataclass(frozen=True)
class RunOptions:
    """How progress is shown and a run is saved; this does not affect its results."""

    in_folder: bool
    progress: bool
    tensorboard: bool
    checkpoint_seconds: float

    def __post_init__(self) -> None:
        seconds = self.checkpoint_seconds
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise FreqdynaError(f"checkpoint_seconds is {seconds!r}; it must be 0 or greater")
        if self.tensorboard and not self.in_folder:
            raise FreqdynaError("tensorboard is True; it needs a run folder: set out")
        if self.tensorboard and find_spec("tensorboardX") is None:
            raise FreqdynaError(f"tensorboard is True; it needs: {installing('tensorboard')}")


@dataclass
class Saver:
    """Saves a run to its folder, periodically or on demand; does nothing without a folder."""

    folder: Path | None
    seconds: float
    """Seconds between checkpoints."""
    last: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.folder is not None and time.monotonic() - self.last >= self.seconds

    def save_snapshot(self, step: int, arrays: dict[str, np.ndarray]) -> None:
        """Write the snapshot after `step` steps."""
        if self.folder is not None:
            run_folder.write_snapshot(self.folder, step, arrays)

    def save(self, step: int, record: Record, state: Any, facts: dict[str, Any]) -> None:
        """Write a checkpoint and the results so far.

        Args:
            step: The number of steps that every seed has taken.
            record: The training so far.
            state: What `Block.to_checkpoint` returned, a pytree.
            facts: What `Block.facts` returned.

        """
        if self.folder is None:
            return
        curves = {name: values.T for name, values in record.metrics.items()}
        note = {"step": step, "config": asdict(record.config), "facts": facts}
        note |= {k: record.provenance[k] for k in ("devices", "device_kind")}
        checkpoint.save(checkpoint.checkpoint_path(self.folder, step), state, curves, note)
        checkpoint.prune(self.folder)
        if len(record.steps):
            run_folder.write_record(self.folder, record)
        self.last = time.monotonic()
