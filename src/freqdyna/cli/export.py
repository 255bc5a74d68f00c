"""The command `freqdyna export`."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.plugins import current_folder_on_path


@dataclass(frozen=True)
class ExportPolicy:
    """Write a run's trained policy as NumPy arrays, for use without JAX."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    seed: int | None = None
    """The seed. If unset: the first one."""
    out: Path | None = None
    """The file to write, which must end in .npz. If unset: policy.npz in the run folder."""
    allow_code: bool = False
    """Whether the folder may name code to import, as env = "module:id". Use it only if you trust
    it."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.npz"
        with current_folder_on_path(self.allow_code):
            load(self.folder, allow_code=self.allow_code).export_policy(out, self.seed)
        print(f"policy: {out}")
