"""Measurements of sweeps: losing a node, Ray's overhead per unit, and the gain of a second core.

`python benchmarks/sweeps.py [OUT.json]`, on a machine with two free cores: about ten minutes.
"""

import io
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import jax
import numpy as np
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

from freqdyna.results.folder import provenance
from freqdyna.results.record import SECONDS
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.status import stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, Local, Ray, Task

SIXTY = """
[settings]
env.name = "MountainCar-v0"
steps = 2_000
planning_steps = 1
warmup_steps = 200
learn_in_warmup = true
env.episode_limit = 200

[vary]
algorithm = ["er", "dyna-value"]
learner.learning_rate = [0.0003, 0.001, 0.003]

[seeds]
number = 20
block = 2
"""
LONG = """
[settings]
env = "MountainCar-v0"
algorithm = "dyna-frequency"
model = "true"
steps = 8_000
learn_in_warmup = true

[seeds]
number = 20
block = 5
"""


def tables(storage: Storage) -> dict[str, dict[str, np.ndarray]]:
    """The columns of every stored unit."""
    columns = {}
    for name in stored_units(storage):
        table = pq.read_table(io.BytesIO(storage.read(f"units/{name}/metrics.parquet") or b""))
        names = [column for column in table.column_names if column != SECONDS]
        columns[name] = {column: table[column].to_numpy() for column in names}
    return columns


def timed(text: str, folder: Path, engine: Engine) -> float:
    """The time of a sweep in seconds."""
    began = time.perf_counter()
    execute_sweep(Sweep.parse(text), Storage(str(folder)), engine)
    return time.perf_counter() - began


def lose_a_node(folder: Path) -> dict[str, object]:
    """Sixty units on two nodes, one of which is killed; then the same on this machine alone."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    storage = Storage(str(folder / "ray"))
    sweep = threading.Thread(target=timed, args=(SIXTY, folder / "ray", Ray()))
    sweep.start()
    while len(stored_units(storage)) < 20:
        time.sleep(0.2)
    done = len(stored_units(storage))
    cluster.remove_node(nodes[0], allow_graceful=False)
    sweep.join()
    ray.shutdown()
    cluster.shutdown()
    timed(SIXTY, folder / "local", Local(2))
    here, there = tables(Storage(str(folder / "local"))), tables(storage)
    same = all(
        np.array_equal(here[name][column], there[name][column], equal_nan=True)
        for name in here
        for column in here[name]
    )
    return {"units": len(there), "done when the node was killed": done, "bit-identical": same}


def overhead(engine: Engine, tasks: int = 100) -> float:
    """Milliseconds per task that computes nothing: only the engine's overhead remains."""
    list(engine.run([Task(str(i), int) for i in range(4)]))  # workers start
    began = time.perf_counter()
    list(engine.run([Task(str(i), int) for i in range(tasks)]))
    return 1e3 * (time.perf_counter() - began) / tasks


if __name__ == "__main__":
    out = Path(sys.argv[1] if sys.argv[1:] else "sweeps.json")
    facts: dict[str, object] = provenance(jax.devices())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts["a node killed"] = lose_a_node(folder)
        print(facts["a node killed"], flush=True)
        one, two = timed(LONG, folder / "one", Local(1)), timed(LONG, folder / "two", Local(2))
        facts["seconds of 4 units"] = {"1 worker": one, "2 workers": two, "ratio": one / two}
        print(facts["seconds of 4 units"], flush=True)
        ray.init(num_cpus=2, log_to_driver=False)
        facts["seconds of 4 units on Ray, 2 CPUs"] = timed(LONG, folder / "on ray", Ray())
        facts["milliseconds a unit, Ray's own"] = overhead(Ray())
        ray.shutdown()
        print(facts["milliseconds a unit, Ray's own"], flush=True)
    out.write_text(json.dumps(facts, indent=2) + "\n")
    print(f"written: {out}")
