"""How a run is watched, and how it is saved into its folder."""

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
    """How a run is watched and saved; nothing here changes what it computes."""

    in_folder: bool
    progress: bool
    tensorboard: bool
    checkpoint_seconds: float

    def __post_init__(self) -> None:
        seconds = self.checkpoint_seconds
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise FreqdynaError(f"checkpoint_seconds is {seconds!r}; it must be 0 or greater")
        if self.tensorboard and not self.in_folder:
            raise FreqdynaError("tensorboard is True; it needs a run folder: give out")
        if self.tensorboard and find_spec("tensorboardX") is None:
            raise FreqdynaError(f"tensorboard is True; it needs: {installing('tensorboard')}")


@dataclass
class Saver:
    """Saves a run into its folder, now and then or on demand; does nothing without a folder."""

    folder: Path | None
    seconds: float
    """Between two checkpoints."""
    last: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether the last checkpoint is long enough ago for another one."""
        return self.folder is not None and time.monotonic() - self.last >= self.seconds

    def save_snapshot(self, step: int, arrays: dict[str, np.ndarray]) -> None:
        """Write what was recorded after `step` steps."""
        if self.folder is not None:
            run_folder.write_snapshot(self.folder, step, arrays)

    def save(self, step: int, record: Record, state: Any, facts: dict[str, Any]) -> None:
        """Write a checkpoint, and the results so far.

        Args:
            step: The steps that every seed has done.
            record: The training so far.
            state: What the training resumes from, a pytree, as `Block.to_checkpoint` gives it.
            facts: What the block needs to know besides, as `Block.facts` gives it.

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
