"""Which devices share the seeds: every accelerator, or each CPU core as a device of its own.

On a CPU one batch over all seeds hardly uses a second core; two devices with half of the seeds
each do. JAX fixes the number of CPU devices when it first computes something, so a core becomes a
device only if freqdyna is asked to train before that.

Compiled programs are kept between runs, so that the second start of a shape is quick. They lie in
JAX's own persistent cache, in a folder of this machine and user that can be removed at any time.
JAX's settings win: `JAX_COMPILATION_CACHE_DIR` names another folder,
`JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing.
"""

import contextlib
import math
import os
import platform
from pathlib import Path

import jax


def cores() -> int:
    """The CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def seed_devices(seeds: int, wanted: int | None = None) -> list[jax.Device]:
    """The devices to spread `seeds` over: at most `wanted`, and none without a seed."""
    with contextlib.suppress(RuntimeError):  # raised if JAX has computed before
        jax.config.update("jax_num_cpu_devices", wanted or cores())
    devices = jax.devices()[: wanted or None]
    seeds_each = math.ceil(seeds / min(len(devices), seeds))
    return devices[: math.ceil(seeds / seeds_each)]


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
