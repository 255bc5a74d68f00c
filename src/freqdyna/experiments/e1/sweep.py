"""What E1 integrates: |f_sin′|² over the high and the low frequency region."""

import numpy as np

from freqdyna.experiments.base import Columns, Unit, Work
from freqdyna.experiments.f_sin import HIGH, LOW, f_sin
from freqdyna.frequency.quadrature import interval_energy

REGIONS = ((LOW, 0.0), (0.0, HIGH))


def units(quick: bool) -> list[Unit]:
    """One unit, small enough for a quick run too."""
    return [Unit("integrals", {"regions": [list(region) for region in REGIONS]}, _integrals)]


def _integrals(work: Work) -> Columns:
    found = [interval_energy(lambda y: f_sin(y[0]), *region, derivative=1) for region in REGIONS]
    low, high = zip(*REGIONS, strict=True)
    return {"low": np.array(low), "high": np.array(high), "integral": np.array(found)}
