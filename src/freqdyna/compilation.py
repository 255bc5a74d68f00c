"""Compiled programs are kept between runs, so that the second start of a shape is quick.

They lie in JAX's own persistent cache, in a folder of this machine and user that can be removed at
any time. JAX's settings win: `JAX_COMPILATION_CACHE_DIR` names another folder,
`JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing.
"""

import os
import platform
from pathlib import Path

import jax


def keep_compiled_programs() -> None:
    """Let JAX keep what takes longer than a second to compile."""
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home, as in some containers
        return
    # A program for one processor may not run on another that shares the home folder.
    folder = home / "freqdyna" / f"compiled-{platform.machine()}-{platform.node()}"
    jax.config.update("jax_compilation_cache_dir", str(folder))
