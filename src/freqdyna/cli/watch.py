"""The command `freqdyna watch`."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.plugins import current_folder_on_path


@dataclass(frozen=True)
class WatchPolicy:
    """Write an animation (GIF) of episodes of a run's trained policy, without exploration."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    seed: int | None = None
    """The seed. If unset: the first one."""
    episodes: int = 3
    """The number of episodes, 1 to 100."""
    out: Path | None = None
    """The file to write, which must end in .gif. If unset: policy.gif in the run folder."""
    allow_code: bool = False
    """Whether the folder may name code to import, as env = "module:id". Use it only if you trust
    it."""

    def run(self) -> None:
        """Run the command."""
        _render_without_display()
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.gif"
        with current_folder_on_path(self.allow_code):
            result = load(self.folder, allow_code=self.allow_code)
            result.watch(out, self.seed, self.episodes, progress=True)


def _render_without_display() -> None:
    """Let Pygame and MuJoCo render to memory; without a display they would fail."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    has_display = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if sys.platform == "linux" and not has_display:
        os.environ.setdefault("MUJOCO_GL", "egl")
