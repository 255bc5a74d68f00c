"""Compiled programs are kept between runs, so that the second start of a shape is quick.

They lie in JAX's own persistent cache, in a folder of this machine and user. JAX's settings win:
`JAX_COMPILATION_CACHE_DIR` names another folder, `JAX_ENABLE_COMPILATION_CACHE=false` keeps
nothing.
"""

import os
import platform
from pathlib import Path

import jax

LARGEST_CACHE = 2**30
"""Bytes; the programs used least recently are dropped beyond it (JAX uses filelock for that)."""


def keep_compiled_programs() -> None:
    """Let JAX keep what takes longer than a second to compile."""
    if jax.config.values["jax_compilation_cache_dir"] is None:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        # A program for one processor may not run on another that shares the home folder.
        folder = Path(home) / "freqdyna" / f"compiled-{platform.machine()}-{platform.node()}"
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_compilation_cache_max_size", LARGEST_CACHE)
