"""What F1 trains: p_b ∈ {60, 70, 80}% of the data in the high or the low region, and unbiased."""

from functools import partial

from reproduction.base import Unit
from reproduction.parts.regression.curves import SEEDS, UPDATES
from reproduction.parts.regression.regression import (
    Draw,
    curves_unit,
    draw_biased,
    draw_unbiased,
)

SHARES = (60, 70, 80)
"""p_b in percent."""

DRAWS: dict[str, Draw] = {"Unbiased": draw_unbiased}
DRAWS |= {f"Biased-high {p}%": partial(draw_biased, high_share=p / 100) for p in SHARES}
DRAWS |= {f"Biased-low {p}%": partial(draw_biased, high_share=(100 - p) / 100) for p in SHARES}


def units(quick: bool) -> list[Unit]:
    """All curves in one unit."""
    return [curves_unit(DRAWS, 4 if quick else SEEDS, 2000 if quick else UPDATES)]
