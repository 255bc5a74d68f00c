"""A sweep on a real Ray cluster of several nodes on this machine, and what may befall it."""

import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import ray
from conftest import QUICK, assert_complete, tables, wait_for
from disturbed import KILLED, LAST_RESORT, Disturbing, KilledThenHeld, marked, marks, release

from freqdyna.cli.main import main
from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines.base import Task
from freqdyna.training.engines.ray import Ray, _check

FAILING = '[vary]\nalgorithm = ["er", "naf"]'
HELPERS = Path(__file__).parent
PATIENCE = {
    "RAY_worker_niceness": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_worker_register_timeout_seconds": str(int(LAST_RESORT)),
    "RAY_gcs_server_request_timeout_seconds": str(int(LAST_RESORT)),
    "RAY_health_check_timeout_ms": str(int(1000 * LAST_RESORT)),
}
"""Ray's workers give way to everything else by default, and on a busy machine get no turn. Workers
that Ray starts in advance lack the environment of our tasks, and would never be used."""


@pytest.fixture(scope="module")
def cluster():
    """A head that computes nothing."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patched:
        for name, value in PATIENCE.items():
            patched.setenv(name, value)
        patched.setenv("PYTHONPATH", str(HELPERS), prepend=":")
        head = {"num_cpus": 0, "include_dashboard": False, "wait": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def nodes(cluster):
    """A node of two CPUs; a test may take it away if it adds another."""
    return [add_node(cluster)]


def add_node(cluster):
    node = cluster.add_node(num_cpus=2, wait=False)
    cluster.wait_for_nodes(LAST_RESORT)
    return node


def test_a_worker_is_killed_a_node_is_lost_and_units_fail(tmp_path, nodes, cluster, reference):
    # The units of the reference, and as many that cannot be trained.
    text = QUICK.replace('algorithm = "er"\n', "").replace("[vary]", FAILING)
    out, engine, ended = tmp_path / "out", Ray(), []
    assert engine.slots() == 2
    disturbing = Disturbing(engine, KilledThenHeld)
    work = text, Sweep.parse(text), Storage(str(out)), disturbing, 0.0
    sweep = threading.Thread(target=lambda: ended.append(execute_sweep(*work)))
    sweep.start()
    wait_for(lambda: len(marked(out)) == 2, sweep.is_alive)
    assert (marks(out) / KILLED).exists()
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    nodes.append(add_node(cluster))
    release(out)
    sweep.join()
    (status,) = ended
    assert (len(status.done), len(status.failed)) == (4, 4)
    for name, error in status.failed.items():
        assert error.startswith("algorithm is 'naf', but the actions")
        Storage(str(out)).remove(f"failed/{name}.json")
    assert_complete(out, reference)


@pytest.mark.usefixtures("nodes")
def test_the_driver_is_killed_and_begins_again(tmp_path, cluster, reference, capsys):
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(QUICK)
    command = ["sweep", str(file), "--out", str(out), "--engine", "ray"]
    command += ["--address", cluster.address, "--checkpoint-seconds", "0"]
    driver = [sys.executable, str(HELPERS / "held_driver.py"), *command]
    with subprocess.Popen(driver, stdout=subprocess.DEVNULL) as first:
        try:
            wait_for(lambda: marked(out) and len(tables(out)) == 3, lambda: first.poll() is None)
            with pytest.raises(SystemExit, match="2"):
                main(command)
            assert f"process {first.pid} on " in capsys.readouterr().err
        finally:
            first.kill()
    assert len(tables(out)) == 3
    main(command)
    assert_complete(out, reference)


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
    with pytest.raises(FreqdynaError, match=f"address is '{address}', where no Ray cluster"):
        _check(address)
