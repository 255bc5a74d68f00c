"""How progress is shown, and how a run is saved to its folder."""

import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from freqdyna.core.errors import FreqdynaError, RunFailedError, installing
from freqdyna.results.folder import encode, write
from freqdyna.results.record import Record
from freqdyna.training.checkpoint import RunCheckpoint, prune, save_run


@dataclass(frozen=True)
class RunOptions:
    """How progress is shown and a run is saved; this does not affect its results."""

    in_folder: bool
    progress: bool
    tensorboard: bool
    checkpoint_seconds: float
    wandb: bool = False

    def __post_init__(self) -> None:
        seconds = self.checkpoint_seconds
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise FreqdynaError(f"checkpoint_seconds is {seconds!r}; it must be 0 or greater")
        if self.tensorboard and not self.in_folder:
            raise FreqdynaError("tensorboard is True; it needs a run folder: set out")
        if self.tensorboard and find_spec("tensorboardX") is None:
            raise FreqdynaError(f"tensorboard is True; it needs: {installing('tensorboard')}")
        if self.wandb and "wandb" not in sys.modules and find_spec("wandb") is None:
            raise FreqdynaError(f"wandb is True; it needs: {installing('wandb')}")


@dataclass
class Saver:
    """Saves a run to its folder, periodically or on demand; does nothing without a folder.

    All files that are complete remain in place if a file cannot be written.
    """

    folder: Path | None
    seconds: float
    """Seconds between checkpoints."""
    again: str = ""
    """The command that resumes the run, for messages."""
    last: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.folder is not None and time.monotonic() - self.last >= self.seconds

    def try_to_save(self, record: Record, checkpoint: RunCheckpoint) -> str | None:
        """Like `save`, but returns a warning if that is not possible now, as on a full disk."""
        self.last = time.monotonic()
        try:
            self._write(record, checkpoint)
        except OSError as error:
            return self._later(error)
        return None

    def save(self, record: Record, checkpoint: RunCheckpoint) -> None:
        """Write a checkpoint and the results so far.

        Args:
            record: The training so far.
            checkpoint: The state to resume from.

        Raises:
            RunFailedError: If that is not possible.

        """
        try:
            self._write(record, checkpoint)
        except OSError as error:
            raise self.failed(error) from None

    def failed(self, error: OSError) -> RunFailedError:
        """The error for a run that could not write its files."""
        assert self.folder is not None
        where = f"the run could not be saved in {str(self.folder)!r}"
        if not self.folder.is_dir():
            return RunFailedError(f"{where}: the folder was removed; start it in a new one")
        return RunFailedError(
            f"{where}: {error.strerror or error}; when there is space and access, continue from "
            f"its last checkpoint with: {self.again}"
        )

    def _write(self, record: Record, checkpoint: RunCheckpoint) -> None:
        if self.folder is None:
            return
        save_run(self.folder, record.config, checkpoint)
        prune(self.folder)
        if len(record.steps):
            write(self.folder, encode(record))
        self.last = time.monotonic()

    def _later(self, error: OSError) -> str:
        return (
            f"the run could not be saved in {str(self.folder)!r}: {error.strerror or error}; "
            f"it continues, and tries again every {self.seconds:g} seconds and at its end"
        )
