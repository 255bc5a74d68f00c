"""Measures a step with each search-control in each domain, with 30 seeds at once.

`python benchmarks/step_times.py OUT.json [--processes N]`: compiling takes much longer than
measuring, so that N processes compile their shares at the same time; once all are done, they
measure one after the other, while the others wait. Each measurement is written at once, and what
the file contains is not measured again.
"""

import argparse
import json
import multiprocessing
import os
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier, Lock
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freqdyna.training.run import Run

ALGORITHMS = (
    *("er", "dyna-replay", "dyna-value", "dyna-frequency", "dyna-uniform", "dyna-td-error"),
)
DOMAINS = (
    *("MountainCar-v0", "GridWorld", "MazeGridWorld"),
    *("Acrobot-v1", "CartPole-v1", "PuddleWorld"),
)
SEEDS = 30
SECONDS = 1.0
"""About how long each of them is measured, excluding compilation."""

Row = tuple[str, str, float]
"""Domain, algorithm, and microseconds per step of one seed."""


def measure_share(
    share: list[tuple[str, str]],
    compiled: Barrier,
    turn: Lock,
    messages: "Queue[Row | dict[str, Any]]",
) -> None:
    """Send the facts of this machine, then compile and measure these domains and algorithms."""
    import jax
    from rates import MAZE, measure_warm, prepare, warm

    from freqdyna.agents.algorithms import has_setting
    from freqdyna.config import Config
    from freqdyna.results.folder import provenance

    def training(domain: str, algorithm: str) -> "Run":
        named = Config.of({"env": domain, "algorithm": algorithm})
        larger = {"MazeGridWorld": MAZE, "PuddleWorld": {"learner.hidden": (64, 64)}}
        settings = {k: v for k, v in larger.get(domain, {}).items() if has_setting(named, k)}
        return prepare(SEEDS, **settings | {"env": domain, "algorithm": algorithm})

    messages.put(provenance(jax.devices()))
    ready = [(domain, algorithm, warm(training(domain, algorithm))) for domain, algorithm in share]
    compiled.wait()
    with turn:
        for domain, algorithm, run in ready:
            rate = measure_warm(algorithm, run, SECONDS)
            messages.put((domain, algorithm, 1e6 / rate.steps_per_second))


def main(out: Path, processes: int) -> None:
    """Measure what is not written yet, and write it."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the processes share the GPU
    stored = json.loads(out.read_text()) if out.exists() else {}
    microseconds: dict[str, dict[str, float]] = stored.get("microseconds", {})
    pairs = [(domain, algorithm) for domain in DOMAINS for algorithm in ALGORITHMS]
    missing = [pair for pair in pairs if pair[1] not in microseconds.get(pair[0], {})]
    print(f"{len(missing)} of {len(pairs)} are not measured yet", flush=True)
    shares = [missing[i::processes] for i in range(min(processes, len(missing)))]
    context = multiprocessing.get_context("spawn")
    compiled, turn = context.Barrier(len(shares) or 1), context.Lock()
    messages: Queue[Row | dict[str, Any]] = context.Queue()
    for share in shares:
        arguments = share, compiled, turn, messages
        context.Process(target=measure_share, args=arguments, daemon=True).start()
    facts: dict[str, Any] = {}
    for _ in range(len(shares) + len(missing)):
        message = messages.get()
        if isinstance(message, dict):
            facts = message
            continue
        domain, algorithm, time = message
        microseconds.setdefault(domain, {})[algorithm] = time
        results = {**facts, "seeds": SEEDS, "microseconds": microseconds}
        out.write_text(json.dumps(results, indent=2) + "\n")
        print(f"  {domain}, {algorithm}: {time:.1f} µs per step of a seed", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=27)
    main(**vars(parser.parse_args()))
