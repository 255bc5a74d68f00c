"""The local frequency of a function (the paper's equation 3), and the theory behind it.

`local_frequency` is g; `stochastic_slopes` estimates its gradient without the Hessian. `theory`
contains the paper's theorem and functions that relate g to frequencies; docs/theory.md explains how
to use them on your own functions.
"""

from typing import TYPE_CHECKING, Any

from freqdyna.frequency.local import (
    Derivatives,
    Slopes,
    local_frequency,
    local_frequency_gradient,
    reverse_slopes,
)
from freqdyna.frequency.stochastic import random_signs, stochastic_frequency, stochastic_slopes

if TYPE_CHECKING:
    from freqdyna.frequency.theory import (
        FourierSeries,
        Identities,
        LocalSpectrum,
        interval_energy,
        local_dispersion,
        local_energy,
        local_fourier_transform,
        local_frequency_distribution,
        local_gradient_energy,
        local_hessian_energy,
        local_spectrum,
        radial_spectrum,
        theorem_identities,
        uncertainty_ratio,
    )

__all__ = [
    "Derivatives",
    "FourierSeries",
    "Identities",
    "LocalSpectrum",
    "Slopes",
    "interval_energy",
    "local_dispersion",
    "local_energy",
    "local_fourier_transform",
    "local_frequency",
    "local_frequency_distribution",
    "local_frequency_gradient",
    "local_gradient_energy",
    "local_hessian_energy",
    "local_spectrum",
    "radial_spectrum",
    "random_signs",
    "reverse_slopes",
    "stochastic_frequency",
    "stochastic_slopes",
    "theorem_identities",
    "uncertainty_ratio",
]


def __getattr__(name: str) -> Any:
    """Load the theory on first use: training needs neither it nor SciPy."""
    if name not in __all__:
        raise AttributeError(f"module 'freqdyna.frequency' has no attribute {name!r}")
    from freqdyna.frequency import theory

    return getattr(theory, name)
