"""What E2 integrates: Fourier series with random coefficients of several orders."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from reproduction.base import Columns, Unit, Work
from reproduction.theory import SETTINGS, FourierSeries, interval_energy

ORDERS = (1, 2, 4, 8, 16, 32)
"""N."""
DERIVATIVES = (1, 2)
RANDOM_SEED = 0
"""The seed of the coefficients, which are standard normal."""


def units(quick: bool) -> list[Unit]:
    """One unit: several random series of each order."""
    series = 2 if quick else 10
    settings = {
        "orders": list(ORDERS),
        "series": series,
        "derivatives": list(DERIVATIVES),
        "random_seed": RANDOM_SEED,
        "quadrature": SETTINGS,
    }
    return [Unit("series", settings, partial(_series, series))]


def _series(series: int, work: Work) -> Columns:
    generator = np.random.default_rng(RANDOM_SEED)
    rows: list[tuple[int, int, float, float]] = []
    total = len(ORDERS) * series
    for order in ORDERS:
        for _ in range(series):
            with jax.enable_x64(True):
                constant, cosines, sines = np.split(
                    generator.normal(size=2 * order + 1), [1, order + 1]
                )
                f = FourierSeries(*map(jnp.asarray, (constant[0], cosines, sines)))
                stated = [float(f.derivative_energy(d)) for d in DERIVATIVES]
            for d, formula in zip(DERIVATIVES, stated, strict=True):
                rows.append((order, d, interval_energy(f, -math.pi, math.pi, d), formula))
            work.report(len(rows) // len(DERIVATIVES), total)
    names = ("order", "derivative", "integral", "formula")
    return {
        name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
