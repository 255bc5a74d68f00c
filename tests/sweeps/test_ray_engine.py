"""The Ray engine with an imitation of Ray that computes in this process, so without a cluster."""

import sys
from functools import partial
from types import SimpleNamespace

import pytest
import ray
from disturbed import imitation

from freqdyna.core.errors import FreqdynaError
from freqdyna.training.engines import Ray, Task


class InThisProcess:
    """References are tasks, computed when asked for; that of the name `dies` loses its worker."""

    exceptions = ray.exceptions

    def __init__(self):
        self.resources, self.cancelled, self.ahead = {"CPU": 1.0}, [], []

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return self.resources

    def remote(self, **options):
        submitted = SimpleNamespace(remote=lambda task: task)
        return lambda function: SimpleNamespace(options=lambda name: submitted)

    def wait(self, tasks, timeout):
        self.ahead.append(len(tasks))
        return tasks[:1], tasks[1:]

    def get(self, task):
        if task.name == "dies":
            raise self.exceptions.WorkerCrashedError
        try:
            task.compute()
        except FreqdynaError as error:  # Ray wraps what a task raises
            raise self.exceptions.RayTaskError(
                "f", "", error, proctitle="f", pid=1, ip="here"
            ) from None

    def cancel(self, task, force):
        assert force
        self.cancelled.append(task.name)


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


def test_few_tasks_are_submitted_ahead_and_cancelled_if_the_sweep_stops(imitated):
    imitated.resources["CPU"] = 2.0
    outcomes = Ray().run([Task(f"unit {number}", int) for number in range(9)])
    assert [next(outcomes).name for _ in range(2)] == ["unit 0", "unit 1"]
    assert imitated.ahead == [4, 4]  # two for each slot
    outcomes.close()
    assert imitated.cancelled == ["unit 2", "unit 3", "unit 4"]


def test_units_share_gpus(imitated):
    imitated.resources = {"CPU": 24.0, "GPU": 2.0}
    assert Ray(tasks_per_gpu=16).slots() == 24  # each has a CPU too
    assert Ray(tasks_per_gpu=6).slots() == 12
