"""What F2 trains, and the data sets whose points it counts."""

from functools import partial
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from reproduction.base import Columns, Unit, Work
from reproduction.parts.regression.curves import SEEDS, UPDATES
from reproduction.parts.regression.f_sin import HIGH, LOW
from reproduction.parts.regression.regression import (
    GRID,
    NOISE,
    POINTS,
    Draw,
    Points,
    curves_unit,
    described,
    draw_by_norm,
    draw_unbiased,
    noisy,
)

UNIFORM_SHARE = 0.6
SHOWN = 1000
"""Points that are sampled from a data set, shown and counted."""
DATA_SETS = 2000
KEY = 0
"""The random key of all samples."""
BY_NORM: dict[str, Draw] = {
    name: partial(
        draw_by_norm, derivative=derivative, uniform_share=UNIFORM_SHARE, grid_points=GRID
    )
    for name, derivative in (("Biased-GradientNorm", 1), ("Biased-HessianNorm", 2))
}
SPIKE, BAND = 1.0, 0.1
"""The yellow area around the spikes: | |y| − 1 | < 0.1."""


def units(quick: bool) -> list[Unit]:
    """The learning curves, and the shares of points."""
    data_sets = 100 if quick else DATA_SETS
    curves = curves_unit(
        {"Unbiased": draw_unbiased, **BY_NORM}, 4 if quick else SEEDS, 2000 if quick else UPDATES
    )
    drawn = {
        "data": described(BY_NORM),
        "interval": [LOW, HIGH],
        "points": POINTS,
        "shown": SHOWN,
        "noise": NOISE,
        "random_key": KEY,
    }
    counted = drawn | {"data_sets": data_sets, "spike": SPIKE, "band": BAND}
    return [
        curves,
        Unit("shares", counted, partial(_shares, data_sets)),
        Unit("points", drawn, _points),
    ]


def sample(draw: Draw, key: PRNGKeyArray) -> tuple[Points, Points]:
    """1,000 points, x and noisy y, sampled uniformly from one data set."""
    keys = jax.random.split(key, 3)
    x = jax.random.choice(keys[1], draw(keys[0]), (SHOWN,), replace=False)
    return x, noisy(x, keys[2])


Numbers = TypeVar("Numbers", np.ndarray, Array)


def in_regions(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Which points are in the high-frequency region, and which in the band around the spikes."""
    return x <= 0, abs(abs(y) - SPIKE) < BAND


def shares(draw: Draw, key: PRNGKeyArray) -> Float[Array, " 2"]:
    """Percentages of a sample in the high-frequency region and in the band around the spikes."""
    return 100 * jnp.stack([jnp.mean(inside) for inside in in_regions(*sample(draw, key))])


def _shares(data_sets: int, work: Work) -> Columns:
    keys = jax.random.split(jax.random.key(KEY), data_sets)
    found = []
    for done, draw in enumerate(BY_NORM.values()):
        work.report(done, len(BY_NORM))
        found.append(
            np.asarray(jax.jit(lambda k, d=draw: jax.lax.map(partial(shares, d), k))(keys))
        )
    work.report(len(BY_NORM), len(BY_NORM))
    return {
        "setting": np.repeat(list(BY_NORM), data_sets),
        "data_set": np.tile(np.arange(data_sets, dtype=np.int32), len(BY_NORM)),
        "high_frequency": np.concatenate([share[:, 0] for share in found]),
        "spikes": np.concatenate([share[:, 1] for share in found]),
    }


def _points(work: Work) -> Columns:
    samples = [sample(draw, jax.random.key(KEY)) for draw in BY_NORM.values()]
    return {
        "setting": np.repeat(list(BY_NORM), SHOWN),
        "x": np.concatenate([np.asarray(x) for x, _ in samples]),
        "y": np.concatenate([np.asarray(y) for _, y in samples]),
    }
