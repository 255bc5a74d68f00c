import re
from unittest.mock import Mock

import jax
import pytest

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.config import Config
from freqdyna.core.errors import RunFailedError
from freqdyna.training import memory
from freqdyna.training.memory import exhaustion_explained
from freqdyna.training.prepare import prepare_run

GREATEST = 2**31 - 1
SMALL = {"algorithm": "dyna-frequency", "env": "GridWorld", "seeds": 2, "hidden": (4,)}


@pytest.fixture(autouse=True)
def _machine(monkeypatch):
    """A machine of 8 GiB, so that the answers are the same everywhere."""
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2**30)


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        # 7 numbers of 4 bytes for each transition, 2 for each state of the queue; 2 copies, 2 seeds
        ({"buffer_size": GREATEST, "steps": GREATEST, "planning_steps": 1}, 7 * 4 * 4 * 2),
        ({"queue_size": GREATEST}, 2 * 4 * 4 * 2),
        ({"hidden": (GREATEST,)}, None),
        ({"hidden": (GREATEST,) * 3}, None),
        ({"batch_size": GREATEST}, None),
        ({"planning_steps": GREATEST, "steps": 1}, None),
        ({"search_states": GREATEST}, None),
        ({"eval_episodes": GREATEST}, 2 * 4 * 2 * 2),
        ({"climb_limit": GREATEST, "snapshot_steps": (10,)}, None),
        ({"steps": GREATEST, "eval_every": 1, "planning_steps": 1}, None),
        ({"seeds": GREATEST}, None),
        (
            {"episode_limit": GREATEST, "env": "MountainCarContinuous-v0", "algorithm": "naf"},
            4 * 2 * 2,
        ),
        ({"seeds": 10**8, "env": "DynaMaze", "algorithm": "tabular-dyna-q"}, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_run_that_cannot_fit_is_refused_with_the_setting_to_reduce(settings, needed, tmp_path):
    with pytest.raises(FreqdynaError) as refused:
        freqdyna.train(**SMALL | settings, out=tmp_path / "run", progress=False)
    told = str(refused.value)
    assert told.startswith("this run needs about ")
    assert "this machine has 8.0 GiB available; reduce " in told
    assert next(iter(settings)) in told.partition("reduce")[2]
    if needed is not None:
        size = re.search(rf"{next(iter(settings))} 2,147,483,647: ([\d,]+) GiB", told)
        assert int(size[1].replace(",", "")) == needed
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_not_saved_needs_no_memory_for_checkpoints():
    half = {"buffer_size": 200_000_000, "steps": 200_000_000, "planning_steps": 1, "seeds": 1}
    config = Config(**{**SMALL, **half, "algorithm": "er", "eval_every": 10_000_000})
    with pytest.raises(FreqdynaError, match=r"buffer_size 200,000,000: 10 GiB"):
        prepare_run(config, None, saved=True)
    prepare_run(config, None, saved=False)


def test_the_memory_of_an_accelerator_is_compared_with_what_one_device_needs():
    device = Mock(spec=jax.Device, platform="gpu")
    device.memory_stats.return_value = {"bytes_limit": 2 * 2**20, "bytes_in_use": 2**20}
    run = prepare_run(Config(**SMALL, steps=1000), None)
    memory.require_memory(run.config, run.training, [device] * 2, saved=False)
    with pytest.raises(FreqdynaError, match="each device has 1 MiB available; reduce queue_size"):
        memory.require_memory(run.config, run.training, [device], saved=True)


def test_the_memory_of_this_machine_is_known(monkeypatch):
    monkeypatch.undo()
    available = memory.available_memory()
    assert available is None or 2**20 < available < 2**50


def test_a_run_that_runs_out_of_memory_says_so_and_how_to_continue():
    told = (
        r"not enough memory \(MemoryError\); free memory, .*; continue .* with: freqdyna resume x"
    )
    with pytest.raises(RunFailedError, match=told), exhaustion_explained("freqdyna resume x"):
        raise MemoryError
    exhausted = RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.\nmore")
    told = r"\(RuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes\.\); free memory"
    with pytest.raises(RunFailedError, match=told), exhaustion_explained(None):
        raise exhausted
    with pytest.raises(RuntimeError, match="a mistake"), exhaustion_explained(None):
        raise RuntimeError("a mistake in the program")
