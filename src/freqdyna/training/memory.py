"""Whether a run fits into memory, computed from shapes before anything is allocated.

Without this check, Linux promises more memory than there is and kills the process when it is used.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, RunFailedError
from freqdyna.core.failures import failure
from freqdyna.envs.base import Environment
from freqdyna.training.training import Training

_SETTING_OF = {"replay": "buffer_size", "queue": "queue_size", "model": "model_hidden"}
"""The setting that determines the size of a field of the state; of all others: `hidden`."""
_METRICS = 20
"""The number of metrics, roughly."""
_PYTHON = 200
"""Bytes that Python needs for a small array, roughly."""
_LONG_CLIMB = 10_000
"""Climbs longer than this dominate the size of a snapshot."""
_CGROUP = Path("/sys/fs/cgroup")


def require_memory(
    config: Config, training: Training, devices: list[jax.Device], saved: bool
) -> None:
    """Raise an error if a run needs more memory than there is.

    Args:
        config: The settings of the run, all of them set.
        training: The training of one seed.
        devices: The devices that share the seeds.
        saved: Whether the run writes checkpoints, for which the machine needs a copy of its state.

    """
    state = jax.eval_shape(training.init, jax.random.key(0))
    on_host = _host_needs(config, training, state)
    on_device = _state_needs(training, state)
    if saved:
        on_host += _times(config.seeds, on_device)
    _compare(config, on_host, on_device, devices)
    on_device += _work_needs(config, training, state)
    _compare(config, on_host, on_device, devices)


@contextmanager
def exhaustion_explained(again: str | None) -> Iterator[None]:
    """Turn the errors of a run for which the memory did not suffice into one sentence.

    Args:
        again: The command that resumes the run; None if nothing is stored.

    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        explained = failure(error)
        if explained is None:
            raise
        then = f"; continue from the last checkpoint with: {again}" if again else ""
        raise RunFailedError(f"{explained}{then}") from error


def available_memory() -> int | None:
    """The bytes that this process can still allocate; None if that is not known."""
    limits = []
    with suppress(OSError, ValueError, KeyError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        facts = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        limits.append(facts["MemAvailable"] + facts["SwapFree"])
    with suppress(OSError, ValueError):  # a container or a job of a cluster may have less
        group = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
        for folder in {_CGROUP / group, _CGROUP}:
            with suppress(OSError, ValueError, KeyError):
                limit = int((folder / "memory.max").read_text())  # "max" if there is no limit
                used = int((folder / "memory.current").read_text())
                stored = (folder / "memory.stat").read_text().splitlines()
                cached = dict(line.split() for line in stored)["inactive_file"]
                limits.append(limit - used + int(cached))
    if not limits:
        with suppress(ValueError, OSError, AttributeError):  # macOS: all that the machine has
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits, default=None)


def _compare(
    config: Config,
    on_host: "Counter[str]",
    on_device: "Counter[str]",
    devices: list[jax.Device],
) -> None:
    """Raise an error if the machine or a device has too little memory.

    Args:
        config: The settings of the run.
        on_host: The bytes that are needed in the memory of the machine, by setting.
        on_device: The bytes that each seed needs on its device, by setting.
        devices: The devices.

    """
    rows = math.ceil(config.seeds / len(devices))
    if devices[0].platform == "cpu":
        needs = on_host + _times(rows * len(devices), on_device)
        _require(config, needs, available_memory(), "this machine")
        return
    _require(config, on_host, available_memory(), "this machine")
    free = [size for size in map(_free_of_device, devices) if size is not None]
    _require(config, _times(rows, on_device), min(free, default=None), "each device")


def _require(config: Config, needs: "Counter[str]", available: int | None, where: str) -> None:
    total = sum(needs.values())
    if available is None or total <= available:
        return
    largest = [(name, size) for name, size in needs.most_common() if size >= total / 10]
    parts = [f"{name} {_shown(getattr(config, name))}: {_size(size)}" for name, size in largest]
    reduced = [name for name, _ in largest]
    if config.seeds > 1 and "seeds" not in reduced:
        parts.append(f"seeds {config.seeds:,}")
        reduced.append("seeds")
    listed = " or ".join(filter(None, [", ".join(reduced[:-1]), reduced[-1]]))
    raise FreqdynaError(
        f"this run needs about {_size(total)} of memory ({'; '.join(parts)}) and {where} has "
        f"{_size(available)} available; reduce {listed}"
    )


def _state_needs(training: Training, state: Any) -> "Counter[str]":
    """The bytes of the state of one seed, by the setting that they depend on."""
    otherwise = "hidden" if training.agent.layer_sizes else "seeds"
    needs: Counter[str] = Counter()
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        needs[_SETTING_OF.get(getattr(path[0], "name", ""), otherwise)] += _bytes(leaf)
    return needs


def _work_needs(config: Config, training: Training, state: Any) -> "Counter[str]":
    """The bytes that one seed needs while it takes a step or is evaluated, by setting."""
    needs: Counter[str] = Counter()
    env, sizes = training.agent.env, sum(training.agent.layer_sizes)
    # Only large numbers are worth the time that tracing takes.
    batches = config.batch_size * (config.decided("planning_steps") + sizes)
    if 4 * (batches + config.decided("search_states") * sizes) > 2**20:
        numbers = {name: getattr(config, name) for name in _OF_A_STEP}
        needs[max(numbers, key=lambda name: numbers[name])] = _work(training, state)
    if isinstance(env, Environment):
        needs["eval_episodes"] = 4 * config.eval_episodes * env.observation_size
    return needs


_OF_A_STEP = ("batch_size", "planning_steps", "search_states")
"""The settings that determine how much memory a step needs in addition to the state."""


def _work(training: Training, state: Any) -> int:
    """The bytes of the largest array of one seed that a step computes, other than its state."""
    agent = training.agent
    if isinstance(agent.env, Environment):
        step: Any = jax.make_jaxpr(agent.step)(state, jnp.zeros((), int))
    else:
        step = jax.make_jaxpr(agent.dry_step)(jax.random.key(0))  # type: ignore[attr-defined]
    own = {(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(state)}
    return max((_bytes(a) for a in _arrays(step.jaxpr) if (a.shape, a.dtype) not in own), default=0)


def _arrays(jaxpr: Any) -> Iterator[Any]:
    """The shapes of all arrays that a traced function computes."""
    for equation in jaxpr.eqns:
        yield from (out.aval for out in equation.outvars if hasattr(out.aval, "shape"))
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _arrays(inner)


def _host_needs(config: Config, training: Training, state: Any) -> "Counter[str]":
    """The bytes that a run needs in the memory of the machine, in addition to its state."""
    env, seeds = training.agent.env, config.seeds
    evaluations = math.ceil(config.steps / config.eval_every)
    needs = Counter(steps=evaluations * _METRICS * (_PYTHON + 4 * seeds))
    if env.on_host:
        needs["episode_limit"] = 4 * seeds * config.decided("episode_limit") * env.action_size
    if config.snapshot_steps:
        shown = jax.eval_shape(training.snapshot, state, jax.random.key(0), jnp.int32(0))
        of_one = sum(map(_bytes, jax.tree.leaves(shown)))
        setting = "climb_limit" if config.climb_limit > _LONG_CLIMB else "snapshot_steps"
        needs[setting] = seeds * len(config.snapshot_steps) * of_one
    return needs


def _free_of_device(device: jax.Device) -> int | None:
    """The bytes that can still be allocated on an accelerator; None if that is not known."""
    with suppress(Exception):  # not every backend can tell
        stats = device.memory_stats() or {}
        return int(stats["bytes_limit"]) - int(stats["bytes_in_use"])
    return None


def _times(number: int, needs: "Counter[str]") -> "Counter[str]":
    return Counter({name: number * size for name, size in needs.items()})


def _bytes(array: Any) -> int:
    return math.prod(array.shape) * array.dtype.itemsize


def _size(number: float) -> str:
    """A number of bytes for a message."""
    if number < 2**30:
        return f"{number / 2**20:,.0f} MiB"
    return f"{number / 2**30:,.1f} GiB" if number < 10 * 2**30 else f"{number / 2**30:,.0f} GiB"


def _shown(value: Any) -> str:
    """The value of a setting; of several snapshots, their number."""
    if isinstance(value, tuple):
        return " ".join(f"{v:,}" for v in value) if len(value) < 5 else f"of {len(value):,} entries"
    return f"{value:,}"
