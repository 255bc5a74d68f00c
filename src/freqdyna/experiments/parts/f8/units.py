"""F8 looks at the same trainings as F5."""

from freqdyna.experiments.parts.f5.units import ALGORITHMS, units

__all__ = ["ALGORITHMS", "units"]
