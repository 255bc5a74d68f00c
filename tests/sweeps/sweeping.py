"""A small sweep, and what every disturbed one must have stored in the end."""

import io
import time

import numpy as np
import pyarrow.parquet as pq
from disturbed import LAST_RESORT

from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.results.record import SECONDS
from freqdyna.sweeps.status import stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.training.engines import Engine, TaskOutcome

QUICK = """
[settings]
env = "CartPole-v1"
steps = 400
planning_steps = 1
batch_size = 2
warmup_steps = 10
learner = {hidden = [2], layer_norm = false, n_step = 1}
replay = {capacity = 100, prioritized_share = 0.0}

[vary]
eval_every = [100, 200]

[seeds]
number = 2
block = 1
"""
"""Four units, of which a process compiles one small program."""
HALF = QUICK.replace("number = 2", "number = 1")
FAILING = HALF.replace('env = "CartPole-v1"\n', "")
FAILING = FAILING.replace("[vary]", '[vary]\nenv = ["CartPole-v1", "FrozenLake-v1"]')
"""The units of `HALF`, and as many that cannot be trained."""


class Here(Engine):
    """Computes in this process."""

    def slots(self):
        return 1

    def run(self, tasks):
        for task in tasks:
            try:
                task.compute()
            except (OSError, FreqdynaError) as error:
                yield TaskOutcome(task.name, one_line(error))
            else:
                yield TaskOutcome(task.name)


def stored(location):
    """Every stored unit's metrics, without the time that they took, and its arrays."""
    storage, units = Storage(str(location)), {}
    for unit in stored_units(storage):
        table = pq.read_table(io.BytesIO(storage.read(f"units/{unit}/metrics.parquet")))
        arrays = dict(np.load(io.BytesIO(storage.read(f"units/{unit}/arrays.npz"))))
        metrics = {name: table[name].to_numpy() for name in table.column_names if name != SECONDS}
        units[unit] = metrics | arrays
    return units


def assert_complete(location, reference, failed=()):
    """Each unit is there once, with the bits of the undisturbed sweep, and nothing else is left."""
    units = stored(location)
    assert set(units) == set(reference)
    for unit, values in units.items():
        assert set(values) == set(reference[unit])
        assert values["parameters"].size
        for name, array in values.items():
            np.testing.assert_array_equal(array, reference[unit][name], err_msg=f"{unit} {name}")
    storage = Storage(str(location))
    assert storage.files("running") == []
    assert storage.files("failed") == sorted(f"{name}.json" for name in failed)
    assert storage.read("lock.txt") is None


def wait_for(condition, alive=lambda: True):
    """What `condition` returns as soon as it is true, however long that takes while `alive`."""
    until = time.monotonic() + LAST_RESORT
    while time.monotonic() < until:
        going_on = alive()
        if value := condition():
            return value
        assert going_on, "it ended before that happened"
        time.sleep(0.05)
    raise AssertionError("it hangs")
