"""F1: more training data in the high-frequency region (the paper's figure 1)."""

from functools import partial

from reproduction import regression
from reproduction.claims import Statement
from reproduction.regression import Curves, Draw, draw_biased
from reproduction.study import Findings, Part, Stored, Unit

SHARES = (60, 70, 80)
"""p_b in percent."""
DRAWS: dict[str, Draw] = {"Unbiased": regression.draw_unbiased}
DRAWS |= {f"Biased-high {p}%": partial(draw_biased, high_share=p / 100) for p in SHARES}
DRAWS |= {f"Biased-low {p}%": partial(draw_biased, high_share=(100 - p) / 100) for p in SHARES}
COLORS = {"Unbiased": "blue", "Biased-high": "black", "Biased-low": "darkorange"}
ERROR = Statement(
    "regression has a lower error with data biased to the high frequency than with unbiased data"
)
SPEED = Statement(
    "regression needs fewer updates with data biased to the high frequency than with unbiased data"
)
HIGH_OR_LOW = Statement(
    "data biased to the high frequency are better than data biased to the low frequency"
)
LOW_IS_WORSE = Statement("data biased to the low frequency are worse than unbiased data")


def units(quick: bool) -> list[Unit]:
    """p_b ∈ {60, 70, 80}% of the data in the high or the low region, and unbiased, in one unit."""
    return [regression.curves_unit(DRAWS, quick)]


def analyse(units: dict[str, Stored]) -> Findings:
    """One panel for each p_b; the data sets compared with each other, paired by seed."""
    curves = Curves.of(units["curves"].columns)
    highs, lows = ([f"Biased-{side} {p}%" for p in SHARES] for side in ("high", "low"))
    compared = partial(curves.compared, comparisons=3 * len(SHARES))
    judged = [
        *(compared(SPEED, ERROR, one, "Unbiased", "below 0") for one in highs),
        *(
            compared(HIGH_OR_LOW, HIGH_OR_LOW, high, low, "below 0 (text)")
            for high, low in zip(highs, lows, strict=True)
        ),
        *(compared(LOW_IS_WORSE, LOW_IS_WORSE, low, "Unbiased", "-", False) for low in lows),
    ]
    panels = [curves.panel(f"p_b = {p}%", COLORS, f" {p}%", first=p == SHARES[0]) for p in SHARES]
    note = (
        f"Not stated in the paper, and chosen by us: {regression.POINTS:,} training points, "
        f"{curves.updates[-1]:,} updates, {regression.TEST_POINTS:,} test points without noise, "
        "uniform in [−2, 2]."
    )
    rows = [claim for claims in judged for claim in claims]
    return curves.findings("F1: regression of f_sin", panels, rows, ERROR, highs, [note])


PART = Part("F1", "regression, data biased to the high frequency", "five minutes", units, analyse)
