"""F8 looks at the same trainings as F5."""

from freqdyna.experiments.f5.sweep import ALGORITHMS, units

__all__ = ["ALGORITHMS", "units"]
