"""The checkpoint from which a run resumes, and what is told about files that cannot be read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freqdyna.config import Config
from freqdyna.core.errors import DamagedFileError
from freqdyna.core.files import set_aside
from freqdyna.training import checkpoint
from freqdyna.training.checkpoint import ForeignCheckpointError, RunCheckpoint


@dataclass(frozen=True)
class FoundCheckpoint:
    """What a run folder contains to resume from."""

    checkpoint: RunCheckpoint | None = None
    """None to start from the first step."""
    warnings: list[str] = field(default_factory=list)


def newest_checkpoint(
    folder: Path,
    config: Config,
    structure: Callable[[Config], Any],
    provenance: dict[str, Any],
) -> FoundCheckpoint:
    """The newest checkpoint that can be read; damaged files are set aside.

    Args:
        folder: The run folder.
        config: The settings of the run.
        structure: Gives the shapes of the state, see `checkpoint.load_run`.
        provenance: The provenance of the run on this machine.

    Raises:
        ForeignCheckpointError: If all checkpoints belong to another run.

    """
    warnings: list[str] = []
    foreign: dict[Path, ForeignCheckpointError] = {}
    for path in checkpoint.checkpoints(folder):
        try:
            saved = checkpoint.load_run(path, config, structure)
        except ForeignCheckpointError as error:
            foreign[path] = error
            continue
        except DamagedFileError as error:
            warnings.append(f"{error}; {set_aside(path)}; trying the one before it")
            continue
        warnings += [f"{error}; {set_aside(path)}" for path, error in foreign.items()]
        here = provenance["devices"], provenance["device_kind"]
        if (saved.devices, saved.device_kind) != here:
            warnings.append(
                f"this run started on {saved.devices} × {saved.device_kind} and resumes on "
                f"{here[0]} × {here[1]}: its last digits may differ from an uninterrupted run"
            )
        return FoundCheckpoint(saved, warnings)
    if foreign:  # config.toml may be the file that does not belong here
        raise next(iter(foreign.values()))
    if warnings:
        warnings.append("no checkpoint could be read: starting from the first step")
    return FoundCheckpoint(warnings=warnings)
