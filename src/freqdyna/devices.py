"""Which devices share the seeds: every accelerator, or each CPU core as a device of its own.

On a CPU one batch over all seeds hardly uses a second core; two devices with half of the seeds
each do. JAX fixes the number of CPU devices when it first computes something, so a core becomes a
device only if freqdyna is asked to train before that.
"""

import contextlib
import math
import os

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
