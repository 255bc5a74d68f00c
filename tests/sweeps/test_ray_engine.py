"""The Ray engine with an imitation of Ray that computes in this process, so without a cluster."""

import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import ray
from sweeping import FAILING, QUICK, assert_complete

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import AHEAD, RETRIES, Ray, Task, _check_address


class InThisProcess:
    """Computes a task when it is waited for; that of the unit `dies_at` loses its worker."""

    exceptions = ray.exceptions

    def __init__(self, dies_at=None):
        self.dies_at, self.submitted, self.results, self.cancelled = dies_at, {}, {}, []

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return {"CPU": 1.0}

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
        assert len(references) <= AHEAD
        task = self.submitted[references[0]]
        try:
            if task.name == self.dies_at:
                raise self.exceptions.WorkerCrashedError
            self.results[references[0]] = self.function(task)
        except (FreqdynaError, ValueError) as error:
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


def sweep(monkeypatch, out, text, imitation):
    monkeypatch.setitem(sys.modules, "ray", imitation)
    return execute_sweep(text, Sweep.parse(text), Storage(str(out)), Ray())


def test_a_sweep_stores_what_it_stores_without_ray_and_reports_what_failed(
    tmp_path, monkeypatch, reference
):
    status = sweep(monkeypatch, tmp_path, FAILING, InThisProcess())
    assert (len(status.done), len(status.failed)) == (2, 2)
    assert_complete(tmp_path, {name: reference[name] for name in status.done}, status.failed)


def test_a_unit_whose_workers_die_fails_and_the_others_finish(tmp_path, monkeypatch, reference):
    first = Sweep.parse(QUICK).units()[0].name
    status = sweep(monkeypatch, tmp_path, QUICK, InThisProcess(dies_at=first))
    assert len(status.done) == 3
    [(name, error)] = status.failed.items()
    assert name == first
    assert "worker died" in error
    assert len(sweep(monkeypatch, tmp_path, QUICK, InThisProcess()).done) == 4
    assert_complete(tmp_path, reference)


def test_tasks_that_run_are_cancelled_if_the_sweep_stops(monkeypatch):
    imitation = InThisProcess()
    monkeypatch.setitem(sys.modules, "ray", imitation)
    outcomes = Ray().run([Task(f"unit {number}", int) for number in range(5)])
    assert next(outcomes).name == "unit 0"
    outcomes.close()
    assert imitation.cancelled == ["unit 1"]


def test_units_share_gpus(monkeypatch):
    with_gpus = MagicMock()
    with_gpus.cluster_resources.return_value = {"CPU": 24.0, "GPU": 2.0}
    monkeypatch.setitem(sys.modules, "ray", with_gpus)
    assert Ray(tasks_per_gpu=16).slots() == 24  # each has a CPU too
    engine = Ray(tasks_per_gpu=6)
    assert engine.slots() == 12
    engine._submit(Task("name", int))
    assert with_gpus.remote.call_args.kwargs["num_gpus"] == 0.1666  # six are not more than one
    assert with_gpus.remote.call_args.kwargs["num_cpus"] == 1


def test_ray_is_given_few_tasks_ahead(monkeypatch):
    fake = MagicMock()
    fake.cluster_resources.return_value = {"CPU": 3.0}
    submit = fake.remote.return_value.return_value.options.return_value.remote
    submit.side_effect = [f"reference {number}" for number in range(10)]
    ahead = []

    def wait(references, timeout):
        ahead.append(len(references))
        return references[:1], references[1:]

    fake.wait = wait
    monkeypatch.setitem(sys.modules, "ray", fake)
    tasks = [Task(f"unit {number}", int) for number in range(10)]
    assert [outcome.name for outcome in Ray().run(tasks)] == [task.name for task in tasks]
    assert ahead == [6, 6, 6, 6, 6, 5, 4, 3, 2, 1]  # two for each of three slots


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://nowhere.invalid:10001", "here:port"])
def test_no_cluster_at_the_address(address):
    with pytest.raises(FreqdynaError, match="address"):
        _check_address(address)
