"""Measures the steps of all search-controls of the study C on a GPU, compiled side by side.

`python benchmarks/step_times.py OUT [--processes N]` stores what `freqdyna bench --controls OUT`
does. Compiling takes much longer than measuring, so that N processes compile their shares at the
same time; once all are done, they measure one after the other, while the others wait.
"""

import argparse
import json
import multiprocessing
import os
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier, Lock
from pathlib import Path

from freqdyna.experiments.parts.controls.design import CONTROLS, DOMAINS, ER, Cell
from freqdyna.experiments.parts.controls.units import tuned_settings

Row = tuple[str, str, str, float]


def work(
    share: list[tuple[str, str]], compiled: Barrier, turn: Lock, rows: "Queue[list[Row]]"
) -> None:
    """Compile and measure these domains and search-controls."""
    from freqdyna import envs
    from freqdyna.cli.bench.controls import SECONDS, measured_config
    from freqdyna.cli.bench.rates import measure_block, warm_block
    from freqdyna.experiments.parts.controls.step_times import SEEDS

    warm = []
    for domain, control in share:
        settings = tuned_settings(control, Cell(domain))
        config = measured_config(settings)
        block = warm_block(config, envs.make(config.env))
        warm.append((domain, control, json.dumps(settings, sort_keys=True), block))
    compiled.wait()
    with turn:
        found: list[Row] = []
        for domain, control, own, block in warm:
            rate = measure_block(control, SEEDS, block, SECONDS)
            found.append((domain, control, own, 1e6 / rate.steps_per_second))
            print(f"  {domain}, {control}: {found[-1][-1]:.1f} µs per step of a seed", flush=True)
        rows.put(found)


def main(out: Path, processes: int) -> None:
    """Measure everything, and store it."""
    began = time.monotonic()
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the processes share the GPU
    pairs = [(domain, control) for domain in DOMAINS for control in (*CONTROLS, ER)]
    shares = [pairs[i::processes] for i in range(min(processes, len(pairs)))]
    context = multiprocessing.get_context("spawn")
    compiled, turn = context.Barrier(len(shares)), context.Lock()
    rows: Queue[list[Row]] = context.Queue()
    workers = [context.Process(target=work, args=(s, compiled, turn, rows)) for s in shares]
    for worker in workers:
        worker.start()
    found = [row for _ in workers for row in rows.get()]
    for worker in workers:
        worker.join()

    import jax

    from freqdyna.cli.bench.controls import columns
    from freqdyna.experiments import store
    from freqdyna.experiments.parts.controls import step_times
    from freqdyna.results.provenance import provenance

    unit = step_times.unit("cpu" if jax.default_backend() == "cpu" else "gpu")
    facts = provenance(jax.devices()) | {"seconds": round(time.monotonic() - began, 1)}
    store.write(
        out / "C", unit, columns(sorted(found, key=lambda row: pairs.index(row[:2]))), facts
    )
    print(f"stored: {store.unit_path(out / 'C', unit)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=27)
    main(**vars(parser.parse_args()))
