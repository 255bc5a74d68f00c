"""What E1 integrates: |f_sin′|² over the regions of high and low frequency."""

import numpy as np

from reproduction.base import Columns, Unit, Work
from reproduction.parts.regression.f_sin import HIGH, LOW, f_sin
from reproduction.theory import SETTINGS, interval_energy

REGIONS = ((LOW, 0.0), (0.0, HIGH))
DERIVATIVE = 1


def units(quick: bool) -> list[Unit]:
    """One unit, which is also small enough for a quick run."""
    settings = {
        "function": f_sin.__name__,
        "derivative": DERIVATIVE,
        "regions": [list(region) for region in REGIONS],
        "quadrature": SETTINGS,
    }
    return [Unit("integrals", settings, _integrals)]


def _integrals(work: Work) -> Columns:
    found = [interval_energy(lambda y: f_sin(y[0]), *region, DERIVATIVE) for region in REGIONS]
    low, high = zip(*REGIONS, strict=True)
    return {"low": np.array(low), "high": np.array(high), "integral": np.array(found)}
