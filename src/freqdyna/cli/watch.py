"""The command `freqdyna watch`."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro


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

    def run(self) -> None:
        """Run the command."""
        _render_without_display()
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.gif"
        load(self.folder).watch(out, self.seed, self.episodes, progress=True)


def _render_without_display() -> None:
    """Let Pygame and MuJoCo render to memory; without a display they would fail."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    has_display = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if sys.platform == "linux" and not has_display:
        os.environ.setdefault("MUJOCO_GL", "egl")
