"""A sweep on a real Ray cluster of several nodes on this machine, and what may befall it."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from unittest.mock import MagicMock

import pytest
import ray
from conftest import TEXT, assert_complete, running, tables, wait_for

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines.base import Task
from freqdyna.training.engines.ray import Ray, _check

SWEEP = Sweep.parse(TEXT)


@pytest.fixture(scope="module")
def cluster():
    """A head that computes nothing."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def nodes(cluster):
    """Two nodes of one CPU each; a test may take one away if it adds another."""
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    return nodes


def in_background(storage):
    thread = threading.Thread(
        target=execute_sweep, args=(TEXT, SWEEP, storage, Ray()), kwargs={"checkpoint_seconds": 0.2}
    )
    thread.start()
    return thread


def test_a_worker_is_killed(tmp_path, nodes, reference):
    assert Ray().slots() == 2
    sweep = in_background(Storage(str(tmp_path)))
    os.kill(wait_for(lambda: running(tmp_path))[0]["pid"], signal.SIGKILL)
    sweep.join()
    assert_complete(tmp_path, reference)


def test_a_node_is_lost_and_another_comes(tmp_path, nodes, cluster, reference):
    sweep = in_background(Storage(str(tmp_path)))
    wait_for(lambda: len(running(tmp_path)) == 2)
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    nodes.append(cluster.add_node(num_cpus=1))
    sweep.join()
    assert_complete(tmp_path, reference)


def test_the_driver_is_killed_and_begins_again(tmp_path, nodes, cluster, reference):
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "freqdyna", "sweep", str(file), "--out", str(out)]
    command += ["--engine", "ray", "--address", cluster.address, "--checkpoint-seconds", "0.2"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    held = wait_for(lambda: running(out))[0]["pid"]
    os.kill(held, signal.SIGSTOP)  # however quick the machine, a unit is left to do
    wait_for(lambda: tables(out))
    second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 2
    assert f"process {first.pid} on " in second.stderr
    first.kill()
    first.wait()
    with suppress(ProcessLookupError):  # Ray kills it as well
        os.kill(held, signal.SIGKILL)
    assert 0 < len(tables(out)) < 4
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert_complete(out, reference)


def test_a_unit_that_always_fails(tmp_path, nodes):
    text = TEXT.replace('algorithm = "er"\n', "").replace(
        "learning_rate = [0.001, 0.003]", 'algorithm = ["naf", "er"]'
    )
    status = execute_sweep(text, Sweep.parse(text), Storage(str(tmp_path)), Ray())
    assert (len(status.done), len(status.failed)) == (2, 2)
    for error in status.failed.values():
        assert error.startswith("FreqdynaError: algorithm is 'naf', but the actions")


def test_the_disk_is_full(tmp_path, nodes, reference):
    """A disk of 40 kB holds some of the units; then it grows."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        storage = Storage(str(disk))
        status = execute_sweep(TEXT, SWEEP, storage, Ray())
        assert 0 < len(status.done) < 4
        for table in tables(disk).values():
            assert table.num_rows == 4
        subprocess.run(["mount", "-o", "remount,size=10m", str(disk)], check=True)
        execute_sweep(TEXT, SWEEP, storage, Ray())
        assert_complete(disk, reference)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_units_share_gpus(monkeypatch):
    with_gpus = MagicMock()
    with_gpus.cluster_resources.return_value = {"CPU": 24.0, "GPU": 2.0}
    monkeypatch.setitem(sys.modules, "ray", with_gpus)
    assert Ray(units_per_gpu=16).slots() == 24  # each has a CPU too
    engine = Ray(units_per_gpu=6)
    assert engine.slots() == 12
    engine._submit(Task("name", "location", [], 60.0))
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
    tasks = [Task(f"unit {number}", "location", [], 60.0) for number in range(10)]
    assert [outcome.name for outcome in Ray().run(tasks)] == [task.name for task in tasks]
    assert ahead == [6, 6, 6, 6, 6, 5, 4, 3, 2, 1]  # two for each of three slots


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://nowhere.invalid:10001", "here:port"])
def test_no_cluster_at_the_address(address):
    with pytest.raises(FreqdynaError, match=f"address is '{address}', where no Ray cluster"):
        _check(address)
