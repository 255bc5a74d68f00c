"""Measures how fast this machine trains; prints tables and writes JSON.

`python benchmarks/run.py` measures freqdyna; with `--peers`, also other libraries in the same run.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
import tyro
from rates import (
    BASE,
    BASE_SEEDS,
    COUNTED,
    WORKLOADS,
    Rate,
    flops_per_step,
    matrix_rate,
    measure,
    measure_growth,
    parts_of_step,
)
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from freqdyna.results.folder import provenance

SEEDS_OF_PARTS = 15


def run(
    out: Path = Path("bench.json"),
    seeds: tuple[int, ...] = (1, 30),
    growth: bool = True,
    peers: bool = False,
) -> None:
    """Measure how fast this machine trains: about ten minutes on 2 cores, mostly compilation.

    Args:
        out: File for the results (JSON).
        seeds: Numbers of seeds to train at once; one measurement for each.
        growth: Also measure how the cost grows with seeds, d, m, state dimension and width.
        peers: Also measure other libraries, which takes five minutes more.

    """
    out.touch()  # fails now rather than after all measurements if it cannot be written
    jobs: list[Callable[[], Rate]] = [
        partial(measure, workload, number) for workload in WORKLOADS for number in seeds
    ]
    if peers:
        from peers import all_peers  # imports packages of the extra `bench`

        jobs += all_peers()
    rates = []
    for job in jobs:
        rate = job()
        rates.append(rate)
        print(
            f"  {rate.implementation}: {rate.workload}, seeds {rate.seeds}: "
            f"{rate.steps_per_second:,.0f} env steps/s",
            flush=True,
        )
    print_rates(rates)
    arithmetic = operations(rates)
    print_operations(arithmetic)
    parts = {
        workload: parts_of_step(workload, SEEDS_OF_PARTS)
        for workload in WORKLOADS
        if "d = 30" not in workload
    }
    print_parts(parts)
    results = {
        **provenance(jax.devices()),
        "rates": [asdict(rate) for rate in rates],
        "arithmetic": arithmetic,
        "shares": parts,
    }
    if growth:
        results["growth"] = growth_rows()
    out.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written: {out}")


def operations(rates: Iterable[Rate]) -> list[dict[str, Any]]:
    """The operations per second of the workloads that are counted, and of this machine."""
    # On a CPU one product already uses all cores; a GPU needs larger ones to be fully used.
    machine = matrix_rate(512 if jax.default_backend() == "cpu" else 4096)
    rows = []
    for rate in rates:
        is_counted = WORKLOADS[rate.workload]["algorithm"] in COUNTED
        if is_counted and rate.implementation == "freqdyna":
            flops = flops_per_step(rate.workload, rate.climb_iterations)
            rows.append(
                {
                    "workload": rate.workload,
                    "seeds": rate.seeds,
                    "flops_per_step": flops,
                    "flops_per_second": flops * rate.steps_per_second,
                    "machine_flops_per_second": machine,
                }
            )
    return rows


def growth_rows() -> list[dict[str, Any]]:
    """Measure and print the cost of a step as one setting grows."""
    print(f"µs per step and seed: {BASE}, {BASE_SEEDS} seeds unless varied", flush=True)
    rows = []
    for name, value, rate in measure_growth():
        microseconds = 1e6 / rate.steps_per_second
        rows.append({"varied": name, "value": value, "microseconds": microseconds, **asdict(rate)})
        print(f"  {name} {value}: {microseconds:,.0f}", flush=True)
    return rows


def print_rates(rates: Sequence[Rate]) -> None:
    """Print the rate of every implementation, and our best rate as a multiple of each."""
    best: dict[str, float] = {}
    for rate in rates:
        if rate.implementation == "freqdyna":
            best[rate.workload] = max(best.get(rate.workload, 0.0), rate.steps_per_second)
    order = list(WORKLOADS)
    print_table(
        "environment steps per second, all seeds together",
        ("workload", "implementation", "seeds", "median", "slowest - fastest", "our best is"),
        (
            (
                rate.workload,
                rate.implementation,
                str(rate.seeds),
                f"{rate.steps_per_second:,.0f}",
                f"{rate.slowest:,.0f} - {rate.fastest:,.0f}",
                f"{best[rate.workload] / rate.steps_per_second:,.1f} ×",
            )
            for rate in sorted(rates, key=lambda rate: (order.index(rate.workload), rate.seeds))
        ),
    )


def print_operations(rows: Iterable[dict[str, Any]]) -> None:
    """Print the operations in matrix products, the achieved rate, and the machine's rate."""
    print_table(
        "compared with the rate of large matrix products",
        ("workload", "seeds", "MFLOP per step", "GFLOP/s achieved", "GFLOP/s of products"),
        (
            (
                row["workload"],
                str(row["seeds"]),
                f"{row['flops_per_step'] / 1e6:.2f}",
                f"{row['flops_per_second'] / 1e9:.1f}",
                f"{row['machine_flops_per_second'] / 1e9:.0f}",
            )
            for row in rows
        ),
    )


def print_parts(parts: dict[str, dict[str, float]]) -> None:
    """Print the time of the parts of a step."""
    for workload, times in parts.items():
        text = ", ".join(f"{part} {time:.0f}" for part, time in times.items())
        print(f"{workload}, {SEEDS_OF_PARTS} seeds on one device, µs per step and seed: {text}")


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table of texts and numbers."""
    table = Table(title=title, box=SIMPLE)
    for column in columns:
        justify: Any = "left" if column in ("workload", "implementation") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)


if __name__ == "__main__":
    tyro.cli(run)
