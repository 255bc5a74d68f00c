"""F2: training data biased by the norm of gradient or Hessian (the paper's figure 2)."""

from functools import partial
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.results.chart import Area, Axis, Mark, Panel, dots
from reproduction import claims, regression
from reproduction.claims import Statement
from reproduction.regression import HIGH, LOW, Curves, Draw, Points
from reproduction.study import Columns, Findings, Part, Stored, Unit

UNIFORM_SHARE = 0.6
SHOWN = 1000
"""Points that are sampled from a data set, shown and counted."""
DATA_SETS = 2000
KEY = 0
BY_NORM: dict[str, Draw] = {
    name: partial(
        regression.draw_by_norm,
        derivative=d,
        uniform_share=UNIFORM_SHARE,
        grid_points=regression.GRID,
    )
    for name, d in (("Biased-GradientNorm", 1), ("Biased-HessianNorm", 2))
}
SPIKE, BAND = 1.0, 0.1
"""The yellow area around the spikes: | |y| − 1 | < 0.1."""
COLORS = {"Unbiased": "blue", "Biased-GradientNorm": "red", "Biased-HessianNorm": "black"}
PAPER = {
    "Biased-GradientNorm": {"high_frequency": 65.35, "spikes": 18.17},
    "Biased-HessianNorm": {"high_frequency": 68.97, "spikes": 27.45},
}
WORDS = {"high_frequency": "in [−2, 0]", "spikes": "in the spike band"}
PERCENTAGES = Statement("the paper's percentages of points where gradient or Hessian are large")
ERROR = Statement(
    "regression has a lower error with data biased by the gradient norm, and the lowest with the "
    "Hessian norm",
    main=True,
)
SPEED = Statement(
    "regression needs fewer updates with data biased by the gradient norm, and the fewest with the "
    "Hessian norm"
)
Numbers = TypeVar("Numbers", np.ndarray, Array)


def units(quick: bool) -> list[Unit]:
    """The learning curves, and the shares of points in many data sets."""
    data_sets = 100 if quick else DATA_SETS
    counted = {
        "data": regression.described(BY_NORM),
        "interval": [LOW, HIGH],
        **{"points": regression.POINTS, "shown": SHOWN, "noise": regression.NOISE},
        **{"random_key": KEY, "data_sets": data_sets, "spike": SPIKE, "band": BAND},
    }
    return [
        regression.curves_unit({"Unbiased": regression.draw_unbiased, **BY_NORM}, quick),
        Unit("shares", counted, partial(_shares, data_sets)),
    ]


def sample(draw: Draw, key: PRNGKeyArray) -> tuple[Points, Points]:
    """1,000 points, x and noisy y, sampled uniformly from one data set."""
    keys = jax.random.split(key, 3)
    x = jax.random.choice(keys[1], draw(keys[0]), (SHOWN,), replace=False)
    return x, regression.noisy(x, keys[2])


def in_regions(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Which points are in the high-frequency region, and which in the band around the spikes."""
    return x <= 0, abs(abs(y) - SPIKE) < BAND


def shares(draw: Draw, key: PRNGKeyArray) -> Float[Array, " 2"]:
    """Percentages of a sample in the high-frequency region and in the band around the spikes."""
    return 100 * jnp.stack([jnp.mean(inside) for inside in in_regions(*sample(draw, key))])


def _shares(data_sets: int) -> Columns:
    keys = jax.random.split(jax.random.key(KEY), data_sets)
    every = [jax.jit(partial(jax.lax.map, partial(shares, one)))(keys) for one in BY_NORM.values()]
    percentages = np.concatenate([np.asarray(one) for one in every])
    return {
        "setting": np.repeat(list(BY_NORM), data_sets),
        "data_set": np.tile(np.arange(data_sets, dtype=np.int32), len(BY_NORM)),
        **{"high_frequency": percentages[:, 0], "spikes": percentages[:, 1]},
    }


def analyse(units: dict[str, Stored]) -> Findings:
    """The paper's three panels; its percentages, and the data sets compared, paired by seed."""
    curves, gradient, hessian = Curves.of(units["curves"].columns), *BY_NORM
    counted = units["shares"].columns
    rows = [
        claims.share(PERCENTAGES, f"{name}: points {words}", PAPER[name][region], percentages)
        for region, words in WORDS.items()
        for name in BY_NORM
        for percentages in [counted[region][counted["setting"] == name]]
    ]
    for name, other in ((gradient, "Unbiased"), (hessian, "Unbiased"), (hessian, gradient)):
        rows += curves.compared(SPEED, ERROR, name, other, "below 0", comparisons=3)
    data_sets = len(np.unique(counted["data_set"]))
    notes = (
        f"Percentages: mean over {data_sets:,} data sets of {SHOWN:,} points each, and the range "
        "of 95% of them. The band refers to the noisy y. The titles of the figure give the "
        f"percentages of the {SHOWN:,} points shown.",
        "The paper's percentages have more digits than 1,000 points allow, so it must have counted "
        "more points; with more points the range would be narrower.",
        "The runs of Unbiased are the same as in F1: same seeds, data and mini-batches. The "
        "comparisons with it in F1 and F2 are therefore not independent.",
    )
    panels = [curves.panel("learning curves", COLORS), *map(_points_panel, BY_NORM)]
    title = "F2: data biased by gradient or Hessian"
    return curves.findings(title, panels, rows, ERROR, list(BY_NORM), notes)


def _points_panel(name: str) -> Panel:
    """The points of a data set, with the spike band shaded and their shares in the title."""
    x, y = map(np.asarray, sample(BY_NORM[name], jax.random.key(KEY)))
    ends = np.array([LOW, HIGH])
    words = f"spike band: noisy y within {BAND:g} of ±{SPIKE:g}"
    bands = [
        Area(ends, np.full(2, spike - BAND), np.full(2, spike + BAND), "gold", 0.4, label=words)
        for spike in (-SPIKE, SPIKE)
    ]
    inside = zip(in_regions(x, y), WORDS.values(), strict=True)
    text = ", ".join(f"{100 * region.mean():.1f}% {words}" for region, words in inside)
    marks: list[Mark] = [*bands, dots(x, y, "tab:blue")]
    title = f"{name}: {SHOWN:,} points\n{text}"
    return Panel(title, Axis("x", low=LOW, high=HIGH), Axis("noisy y"), marks)


PART = Part("F2", "regression, data biased by gradient or Hessian", "six minutes", units, analyse)
