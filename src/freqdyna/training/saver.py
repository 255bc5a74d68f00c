"""How a run is watched, and how it is saved into its folder."""

import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from freqdyna.agents.base import AgentState
from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.results import run_folder
from freqdyna.training import checkpoint

if TYPE_CHECKING:
    from freqdyna.training.run import Run


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

    run: "Run"
    folder: Path | None
    seconds: float
    last: float = field(default_factory=time.monotonic)

    def save_if_due(self, state: AgentState, step: int) -> None:
        """A checkpoint, if the last is long enough ago."""
        if time.monotonic() - self.last >= self.seconds:
            self.save(state, step)

    def save_snapshot(self, step: int) -> None:
        """What was recorded after `step` steps."""
        if self.folder is not None:
            run_folder.write_snapshot(self.folder, step, self.run.snapshots[step])

    def save(self, state: AgentState, step: int) -> None:
        """A checkpoint, and the results so far."""
        if self.folder is None:
            return
        result = self.run.result(state)
        curves = {name: values.T for name, values in result.metrics.items()}
        note = {"step": step, "config": asdict(self.run.config), "facts": self.run.block.facts()}
        note |= {k: self.run.provenance[k] for k in ("devices", "device_kind")}
        saved = self.run.block.to_checkpoint(state)
        checkpoint.save(checkpoint.checkpoint_path(self.folder, step), saved, curves, note)
        checkpoint.prune(self.folder)
        if len(result.steps):
            run_folder.write_result(self.folder, result)
        self.last = time.monotonic()
