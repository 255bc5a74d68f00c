"""The output of `freqdyna bench`: rates and ratios, arithmetic, and where the time goes."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from freqdyna.cli.bench.growth import BASE, measure_growth
from freqdyna.cli.bench.growth import SEEDS as GROWTH_SEEDS
from freqdyna.cli.bench.rates import (
    COUNTED,
    WORKLOADS,
    Rate,
    flops_per_step,
    matrix_rate,
    measure,
    save,
)
from freqdyna.cli.bench.step_parts import shares
from freqdyna.core.errors import FreqdynaError, counted

SEEDS = (1, 30)


def measure_all(jobs: list[Callable[[], Rate]], out: Path, growth: bool = True) -> None:
    """Run all measurements with progress output, print the results and write them.

    Args:
        jobs: Functions that each make one measurement.
        out: The JSON file to write.
        growth: Whether to measure how the cost grows as well.

    """
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise FreqdynaError(f"out is {str(out)!r}; it must be a file in a folder that exists")
    rates = []
    for job in jobs:
        rate = job()
        rates.append(rate)
        print(
            f"  {rate.implementation}: {rate.workload}, {counted(rate.seeds, 'seed')}: "
            f"{rate.steps_per_second:,.0f} env steps/s",
            flush=True,
        )
    findings = report(rates)
    print_rates(rates)
    print_arithmetic(findings["arithmetic"])
    print_shares(findings["shares"])
    if growth:
        findings["growth"] = report_growth()
        print_growth(findings["growth"])
    save(out, rates, findings)
    print(f"written: {out}")


def our_jobs(seeds: tuple[int, ...] = SEEDS) -> list[Callable[[], Rate]]:
    """The measurements of freqdyna: each workload for each number of seeds."""
    return [partial(measure, workload, number) for workload in WORKLOADS for number in seeds]


def print_rates(rates: list[Rate]) -> None:
    """Print the rate of every implementation, and our rate as a multiple of each."""
    table = Table(title="environment steps per second, all seeds together", box=SIMPLE)
    for column in ("workload", "implementation"):
        table.add_column(column, no_wrap=True)
    for column in ("seeds", "median", "slowest - fastest", "our best is", "compilation"):
        table.add_column(column, justify="right", no_wrap=True)
    for rate in sorted(rates, key=lambda r: (list(WORKLOADS).index(r.workload), r.seeds)):
        ours = max(
            (
                r.steps_per_second
                for r in rates
                if (r.workload, r.implementation) == (rate.workload, "freqdyna")
            ),
            default=0.0,
        )
        table.add_row(
            rate.workload,
            rate.implementation,
            str(rate.seeds),
            f"{rate.steps_per_second:,.0f}",
            f"{rate.slowest:,.0f} - {rate.fastest:,.0f}",
            "" if rate.implementation == "freqdyna" else f"{ours / rate.steps_per_second:,.0f} ×",
            f"{rate.compile_seconds:.0f} s" if rate.compile_seconds else "",
        )
    Console(width=120).print(table)


def report(rates: list[Rate]) -> dict[str, Any]:
    """The arithmetic of the workloads that are counted, and the parts of a step except d = 30."""
    # On a CPU one product already uses all cores; a GPU needs larger ones to be fully used.
    machine = matrix_rate(512 if jax.default_backend() == "cpu" else 4096)
    arithmetic = []
    for rate in rates:
        counted = WORKLOADS[rate.workload]["algorithm"] in COUNTED
        if counted and rate.implementation == "freqdyna":
            flops = flops_per_step(rate.workload, rate.climb_iterations)
            arithmetic.append(
                {
                    "workload": rate.workload,
                    "seeds": rate.seeds,
                    "flops_per_step": flops,
                    "flops_per_second": flops * rate.steps_per_second,
                    "machine_flops_per_second": machine,
                }
            )
    parts = {w: shares(w, 15) for w in WORKLOADS if "d = 30" not in w}
    return {"arithmetic": arithmetic, "shares": parts}


def print_arithmetic(rows: list[dict[str, Any]]) -> None:
    """Print the operations in matrix products, the achieved rate, and the machine's rate."""
    table = Table(title="compared with the rate of large matrix products", box=SIMPLE)
    table.add_column("workload", no_wrap=True)
    for column in ("seeds", "MFLOP per step", "GFLOP/s achieved", "GFLOP/s of products", "share"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        reached, machine = row["flops_per_second"], row["machine_flops_per_second"]
        table.add_row(
            row["workload"],
            str(row["seeds"]),
            f"{row['flops_per_step'] / 1e6:.2f}",
            f"{reached / 1e9:.1f}",
            f"{machine / 1e9:.0f}",
            f"{reached / machine:.0%}",
        )
    Console(width=120).print(table)


def print_shares(parts: dict[str, dict[str, float]]) -> None:
    """Print the time of the parts of a step; the random numbers are drawn within the parts."""
    for workload, times in parts.items():
        named = {n: t for n, t in times.items() if n not in ("whole step", "random numbers")}
        text = ", ".join(f"{name} {time:.0f}" for name, time in named.items())
        print(
            f"{workload}, 15 seeds on one device: {times['whole step']:.0f} µs per step and seed: "
            f"{text}; {times['random numbers']:.0f} of these for random numbers"
        )


def report_growth() -> list[dict[str, Any]]:
    """Measure the cost of a step as one setting grows, with progress output."""
    print(f"cost growth of {BASE}, {GROWTH_SEEDS} seeds unless varied:", flush=True)
    rows = []
    for name, value, rate in measure_growth():
        microseconds = 1e6 / rate.steps_per_second
        rows.append({"varied": name, "value": value, "microseconds": microseconds, **asdict(rate)})
        print(f"  {name} {value}: {microseconds:,.0f} µs", flush=True)
    return rows


def print_growth(rows: list[dict[str, Any]]) -> None:
    """Print microseconds per step of one seed, with all devices in use."""
    table = Table(title=f"microseconds per step and seed: {BASE}", box=SIMPLE)
    for column in ("varied", "value"):
        table.add_column(column, no_wrap=True)
    for column in ("µs", "steps/s", "compilation"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["varied"],
            str(row["value"]),
            f"{row['microseconds']:,.0f}",
            f"{row['steps_per_second']:,.0f}",
            f"{row['compile_seconds']:.0f} s",
        )
    Console(width=120).print(table)
