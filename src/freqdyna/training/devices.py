"""The devices that share the seeds: all accelerators, or every CPU core as a separate device.

On a CPU, one batch over all seeds hardly uses a second core, but two devices with half of the seeds
each do. JAX fixes the number of CPU devices when it first computes something, so cores become
devices only if training starts before that.

Compiled programs are cached between runs, so that later runs with the same shapes start faster.
They are in JAX's persistent cache, in a folder of this machine and user that can be deleted at any
time. JAX's settings take precedence: `JAX_COMPILATION_CACHE_DIR` selects another folder, and
`JAX_ENABLE_COMPILATION_CACHE=false` disables the cache.
"""

import contextlib
import math
import os
import platform
from pathlib import Path

import jax


def cores() -> int:
    """The number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def seed_devices(seeds: int, wanted: int | None = None) -> list[jax.Device]:
    """The devices over which seeds are distributed.

    Args:
        seeds: The number of seeds; every device has at least one.
        wanted: The maximum number of devices; None for all.

    """
    with contextlib.suppress(RuntimeError):  # raised if JAX has already computed something
        jax.config.update("jax_num_cpu_devices", wanted or cores())
    devices = jax.devices()[: wanted or None]
    seeds_each = math.ceil(seeds / min(len(devices), seeds))
    return devices[: math.ceil(seeds / seeds_each)]


def keep_compiled_programs() -> None:
    """Let JAX cache programs that take longer than a second to compile."""
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home folder, as in some containers
        return
    # A program compiled for one processor may not run on another that shares the home folder.
    folder = home / "freqdyna" / f"compiled-{platform.machine()}-{platform.node()}"
    jax.config.update("jax_compilation_cache_dir", str(folder))
