"""The Ray engine with an imitation of Ray that computes in this process, so without a cluster."""

import sys
from functools import partial
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import ray
from disturbed import imitation

from freqdyna.core.errors import FreqdynaError
from freqdyna.training.engines import RETRIES, Ray, Task


class InThisProcess:
    """Computes a task when it is waited for; that of the name `dies` loses its worker."""

    exceptions = ray.exceptions

    def __init__(self, cpus=1.0):
        self.cpus, self.submitted, self.results = cpus, {}, {}
        self.cancelled, self.ahead = [], []

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return {"CPU": self.cpus}

    def remote(self, **options):
        assert options["max_retries"] == RETRIES

        def submit(task):
            reference = f"reference {len(self.submitted)}"
            self.submitted[reference] = task
            return reference

        def with_function(function):
            self.function = function
            return SimpleNamespace(options=lambda name: SimpleNamespace(remote=submit))

        return with_function

    def wait(self, references, timeout):
        self.ahead.append(len(references))
        task = self.submitted[references[0]]
        try:
            if task.name == "dies":
                raise self.exceptions.WorkerCrashedError
            self.results[references[0]] = self.function(task)
        except FreqdynaError as error:
            # In a cluster, Ray wraps what a task raises.
            wrapped = self.exceptions.RayTaskError("f", "", error, proctitle="f", pid=1, ip="here")
            self.results[references[0]] = wrapped
        except self.exceptions.RayError as error:
            self.results[references[0]] = error
        return references[:1], references[1:]

    def get(self, reference):
        if isinstance(self.results[reference], Exception):
            raise self.results[reference]

    def cancel(self, reference, force):
        assert force
        self.cancelled.append(self.submitted[reference].name)


@pytest.fixture
def imitated(monkeypatch):
    instead = InThisProcess()
    monkeypatch.setitem(sys.modules, "ray", instead)
    return instead


@pytest.mark.usefixtures("imitated")
def test_tasks_that_fail_or_lose_their_workers_leave_the_others():
    names = ["first", "failing", "dies", "last"]
    tasks = [Task(name, partial(imitation, name)) for name in names]
    errors = {outcome.name: outcome.error for outcome in Ray().run(tasks) if outcome}
    assert list(errors) == names
    assert (errors["first"], errors["failing"], errors["last"]) == (None, "it failed", None)
    assert errors["dies"]


def test_tasks_that_run_are_cancelled_if_the_sweep_stops(imitated):
    outcomes = Ray().run([Task(f"unit {number}", int) for number in range(5)])
    assert next(outcomes).name == "unit 0"
    outcomes.close()
    assert imitated.cancelled == ["unit 1"]


def test_few_tasks_are_submitted_ahead(imitated):
    imitated.cpus = 3.0
    tasks = [Task(f"unit {number}", int) for number in range(10)]
    assert [outcome.name for outcome in Ray().run(tasks)] == [task.name for task in tasks]
    assert imitated.ahead == [6, 6, 6, 6, 6, 5, 4, 3, 2, 1]  # two for each of three slots


def test_units_share_gpus(monkeypatch):
    with_gpus = MagicMock()
    with_gpus.cluster_resources.return_value = {"CPU": 24.0, "GPU": 2.0}
    monkeypatch.setitem(sys.modules, "ray", with_gpus)
    assert Ray(tasks_per_gpu=16).slots() == 24  # each has a CPU too
    assert Ray(tasks_per_gpu=6).slots() == 12


def test_no_cluster_at_the_address():
    with pytest.raises(FreqdynaError, match="address"):
        Ray("127.0.0.1:1")
