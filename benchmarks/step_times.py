"""Measures the steps of all search-controls of the study C on a GPU, compiled side by side.

`python benchmarks/step_times.py OUT [--processes N]` stores what `freqdyna bench --controls OUT`
does. Compiling takes much longer than measuring, so that N processes compile their shares at the
same time; once all are done, they measure one after the other, while the others wait. Each
measurement is stored at once, and what is stored is not measured again.
"""

import argparse
import json
import multiprocessing
import os
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier, Lock
from pathlib import Path
from typing import Any

from freqdyna.experiments import store
from freqdyna.experiments.parts.controls import step_times
from freqdyna.experiments.parts.controls.design import CONTROLS, DOMAINS, ER, Cell
from freqdyna.experiments.parts.controls.units import tuned_settings

Row = tuple[str, str, str, float]
Message = Row | dict[str, Any]


def work(
    share: list[tuple[str, str]], compiled: Barrier, turn: Lock, messages: "Queue[Message]"
) -> None:
    """Send the facts of this machine, then compile and measure these domains and controls."""
    import jax

    from freqdyna import envs
    from freqdyna.cli.bench.controls import SECONDS, measured_config
    from freqdyna.cli.bench.rates import measure_block, warm_block
    from freqdyna.results.provenance import provenance

    messages.put(provenance(jax.devices()))
    warm = []
    for domain, control in share:
        settings = tuned_settings(control, Cell(domain))
        config = measured_config(settings)
        block = warm_block(config, envs.make(config.env))
        warm.append((domain, control, json.dumps(settings, sort_keys=True), block))
    compiled.wait()
    with turn:
        for domain, control, own, block in warm:
            rate = measure_block(control, step_times.SEEDS, block, SECONDS)
            messages.put((domain, control, own, 1e6 / rate.steps_per_second))


def main(out: Path, processes: int, device: str) -> None:
    """Measure what is not stored, and store it."""
    from freqdyna.cli.bench.controls import columns

    began, unit = time.monotonic(), step_times.unit(device)
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the processes share the GPU
    before = store.read(out / "C", unit)
    rows: list[Row] = step_times.rows(before.columns) if before is not None else []
    pairs = [(domain, control) for domain in DOMAINS for control in (*CONTROLS, ER)]
    missing = [pair for pair in pairs if pair not in {row[:2] for row in rows}]
    print(f"{len(missing)} of {len(pairs)} are not measured yet", flush=True)
    shares = [missing[i::processes] for i in range(min(processes, len(missing)))]
    context = multiprocessing.get_context("spawn")
    compiled, turn = context.Barrier(len(shares) or 1), context.Lock()
    messages: Queue[Message] = context.Queue()
    workers = [context.Process(target=work, args=(s, compiled, turn, messages)) for s in shares]
    for worker in workers:
        worker.start()
    facts: dict[str, Any] = {}
    for _ in range(len(workers) + len(missing)):
        message = messages.get()
        if isinstance(message, dict):
            facts = message
            continue
        rows = sorted([*rows, message], key=lambda row: pairs.index(row[:2]))
        seconds = {"seconds": round(time.monotonic() - began, 1)}
        store.write(out / "C", unit, columns(rows), facts | seconds)
        print("  {}, {}: {:.1f} µs per step of a seed".format(*message[:2], message[-1]))
    for worker in workers:
        worker.join()
    print(f"stored: {store.unit_path(out / 'C', unit)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=27)
    parser.add_argument("--device", choices=step_times.DEVICES, default="gpu")
    main(**vars(parser.parse_args()))
