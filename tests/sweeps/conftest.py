"""A small sweep, its undisturbed results, and what every disturbed one must have in the end."""

import io
import time
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
import pytest
from disturbed import LAST_RESORT
from small import SWEEP

from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.results.record import SECONDS
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.status import stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, TaskOutcome

TEXT = SWEEP.replace("= 400", "= 12_000").replace("= 100\nbuffer", "= 3_000\nbuffer")
VARY = "learning_rate = [0.001, 0.003]"
QUICK = SWEEP.replace("eval_every = 100\n", "").replace(VARY, "eval_every = [100, 200]")
"""A shorter one for tests that train it: four units, of which a process compiles one program."""


def failing_and_good():
    """A sweep of two units, of which the first cannot be trained."""
    text = QUICK.replace('algorithm = "er"\n', "").replace("number = 2", "number = 1")
    return text.replace("eval_every = [100, 200]", 'algorithm = ["naf", "er"]')


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


def tables(location):
    """Every stored unit's table, each read whole, without the wall-clock time."""
    storage = Storage(str(location))
    files = {name: storage.read(f"units/{name}/metrics.parquet") for name in stored_units(storage)}
    read = {name: pq.read_table(io.BytesIO(contents)) for name, contents in files.items()}
    return {name: table.drop_columns([SECONDS]) for name, table in read.items()}


def parameters(location):
    """Every stored unit's parameters."""
    storage = Storage(str(location))
    files = {name: storage.read(f"units/{name}/arrays.npz") for name in stored_units(storage)}
    return {name: np.load(io.BytesIO(file))["parameters"] for name, file in files.items()}


@dataclass(frozen=True)
class Reference:
    """What an undisturbed sweep stored."""

    tables: dict
    parameters: dict


def assert_complete(location, reference):
    """Each unit is there once, readable, with the numbers of the undisturbed run; no rest lies."""
    trained = parameters(location)
    assert set(trained) == set(reference.parameters)
    for name, numbers in trained.items():
        assert numbers.size
        np.testing.assert_array_equal(numbers, reference.parameters[name], err_msg=name)
    found = tables(location)
    assert set(found) == set(reference.tables)
    for name, table in found.items():
        for column in table.column_names:
            ours, theirs = table[column].to_numpy(), reference.tables[name][column].to_numpy()
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name} {column}")
    storage = Storage(str(location))
    assert storage.files("running") == storage.files("failed") == []
    assert storage.read("lock.json") is None


def wait_for(condition, alive=lambda: True):
    """What `condition` returns as soon as it is true, however long that takes while `alive`."""
    until = time.monotonic() + LAST_RESORT
    while time.monotonic() < until:
        going_on = alive()
        if found := condition():
            return found
        assert going_on, "it ended before that happened"
        time.sleep(0.05)
    raise AssertionError("it hangs")


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """What an undisturbed sweep in one process stores."""
    out = tmp_path_factory.mktemp("reference")
    status = execute_sweep(QUICK, Sweep.parse(QUICK), Storage(str(out)), Here())
    assert len(status.done) == 4
    return Reference(tables(out), parameters(out))
