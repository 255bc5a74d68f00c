"""The command `freqdyna watch`."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class WatchPolicy:
    """Film episodes of a run's trained policy, without exploration, as a GIF."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    seed: int | None = None
    """Whose policy. Unset: the first seed's."""
    episodes: int = 3
    """How many episodes, 1 to 100."""
    out: Path | None = None
    """The film, a file that ends in .gif. Unset: policy.gif in the run folder."""

    def run(self) -> None:
        """Do it."""
        _do_without_a_screen()
        from freqdyna.results.result import load

        out = self.out or self.folder / "policy.gif"
        load(self.folder).watch(out, self.seed, self.episodes, progress=True)


def _do_without_a_screen() -> None:
    """Let Pygame and MuJoCo draw into memory: where there is no screen they would look for one."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    has_screen = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if sys.platform == "linux" and not has_screen:
        os.environ.setdefault("MUJOCO_GL", "egl")
