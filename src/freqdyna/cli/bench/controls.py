"""The time of a step with each search-control of the study C, for comparisons over equal time."""

import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from freqdyna import envs
from freqdyna.cli.bench.rates import measure_config
from freqdyna.config import Config
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.experiments import store
from freqdyna.experiments.base import Columns
from freqdyna.experiments.parts.controls import step_times
from freqdyna.experiments.parts.controls.design import CONTROLS, DOMAINS, ER, Cell
from freqdyna.experiments.parts.controls.units import tuned_settings
from freqdyna.experiments.trainings import PRESET
from freqdyna.results.provenance import provenance

SECONDS = 1.0
"""About how long each of them is measured, excluding compilation."""
SAME = ("device_kind", "machine")
"""Measurements of another machine are replaced, those of this one are kept."""


def measure_controls(out: Path, domains: tuple[str, ...] = tuple(DOMAINS)) -> None:
    """Measure what is not measured yet on this machine, and store it after each measurement.

    Args:
        out: The folder of results of `freqdyna reproduce`.
        domains: Where to measure.

    """
    device = "cpu" if jax.default_backend() == "cpu" else "gpu"
    unit, folder = step_times.unit(device), out / "C"
    facts = provenance(jax.devices())
    before = store.read(folder, unit)
    rows: list[tuple[str, str, str, float]] = []
    seconds = 0.0
    if before is not None and all(before.provenance[name] == facts[name] for name in SAME):
        rows = step_times.rows(before.columns)
        seconds = before.provenance["seconds"]
    began = time.monotonic()
    for domain in domains:
        for control in (*CONTROLS, ER):
            settings = tuned_settings(control, Cell(domain))
            own = json.dumps(settings, sort_keys=True)
            if any(row[:3] == (domain, control, own) for row in rows):
                continue
            config = measured_config(settings)
            rate = measure_config(control, config, envs.make(config.env), SECONDS)
            rows = [row for row in rows if row[:2] != (domain, control)]
            rows.append((domain, control, own, 1e6 / rate.steps_per_second))
            print(f"  {domain}, {control}: {rows[-1][-1]:.1f} µs per step of a seed", flush=True)
            taken = {"seconds": round(seconds + time.monotonic() - began, 1)}
            store.write(folder, unit, columns(rows), facts | taken)
    print(f"stored: {store.unit_path(folder, unit)}")


def measured_config(settings: dict[str, Any]) -> Config:
    """The configuration that is measured for a training of C with these settings."""
    size = {"seeds": step_times.SEEDS, "steps": 30_000, "warmup_steps": 0}
    return resolved_by_name(Config.of(settings | size, preset=PRESET))


def columns(rows: list[tuple[str, str, str, float]]) -> Columns:
    """The table that is stored for rows as of `step_times.rows`."""
    found = zip(*rows, strict=True)
    return {name: np.array(values) for name, values in zip(step_times.COLUMNS, found, strict=True)}
