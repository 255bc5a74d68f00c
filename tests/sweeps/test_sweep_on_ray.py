"""A sweep on a real Ray cluster of several nodes on this machine, and what may befall it.

Part of `make ray`, not of `make test`: Ray gives up after 30 s if a node has not started, which no
setting changes and a busy machine exceeds. test_ray_engine.py tests the same engine without it.
"""

import threading
from pathlib import Path

import pytest
import ray
from disturbed import KILLED, LAST_RESORT, Disturbing, KilledThenHeld, marked, marks, release
from sweeping import FAILING, assert_complete, wait_for

from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Ray

pytestmark = pytest.mark.ray
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


@pytest.fixture
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


def add_node(cluster, cpus):
    node = cluster.add_node(num_cpus=cpus, wait=False)
    cluster.wait_for_nodes(LAST_RESORT)
    return node


def test_a_worker_is_killed_a_node_joins_another_is_lost_and_units_fail(
    tmp_path, cluster, reference
):
    lost = add_node(cluster, 1)
    out, engine, ended = tmp_path / "out", Ray(), []
    assert engine.slots() == 1
    disturbing = Disturbing(engine, KilledThenHeld)
    storage = Storage(str(out))
    work = Sweep.parse(FAILING), storage, disturbing, 0.0
    sweep = threading.Thread(target=lambda: ended.append(execute_sweep(*work)))
    sweep.start()
    wait_for(lambda: len(marked(out)) == 1, sweep.is_alive)
    assert (marks(out) / KILLED).exists()
    # The new node has a CPU for every other unit, so that no unit is ever sent to the lost one. Ray
    # may wait for it forever otherwise (ray-project/ray, issue 63405).
    add_node(cluster, 3)
    assert engine.slots() == 4
    wait_for(lambda: len(storage.files("failed")) == 2, sweep.is_alive)
    wait_for(lambda: len(marked(out)) == 2, sweep.is_alive)
    cluster.remove_node(lost, allow_graceful=False)
    wait_for(lambda: lost.node_id not in alive_nodes(), sweep.is_alive)
    release(out)
    sweep.join()
    (status,) = ended
    assert (len(status.done), len(status.failed)) == (2, 2)
    assert_complete(out, {name: reference[name] for name in status.done}, status.failed)


def alive_nodes():
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
