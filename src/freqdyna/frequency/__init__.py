"""The local frequency of a function (the paper's equation 3), and the theory behind it.

`local_frequency` is g; `stochastic_slopes` estimates its gradient without the Hessian. `theory`
holds the paper's theorem and what shows how g goes with frequencies;
docs/theory.md tells how to use them on functions of one's own.
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
    from freqdyna.frequency.theory.bandwidth import LocalSpectrum, local_spectrum
    from freqdyna.frequency.theory.fourier_series import FourierSeries
    from freqdyna.frequency.theory.quadrature import interval_energy
    from freqdyna.frequency.theory.theorem import (
        Identities,
        local_energy,
        local_fourier_transform,
        local_frequency_distribution,
        local_gradient_energy,
        local_hessian_energy,
        radial_spectrum,
        theorem_identities,
    )
    from freqdyna.frequency.theory.uncertainty import local_dispersion, uncertainty_ratio

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

_MODULES = {
    "bandwidth": ("LocalSpectrum", "local_spectrum"),
    "fourier_series": ("FourierSeries",),
    "quadrature": ("interval_energy",),
    "theorem": (
        "Identities",
        "local_energy",
        "local_fourier_transform",
        "local_frequency_distribution",
        "local_gradient_energy",
        "local_hessian_energy",
        "radial_spectrum",
        "theorem_identities",
    ),
    "uncertainty": ("local_dispersion", "uncertainty_ratio"),
}


def __getattr__(name: str) -> Any:
    """Load the theory on first use: training needs none of it, nor SciPy."""
    import importlib

    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"freqdyna.frequency.theory.{module}"), name)
    raise AttributeError(f"module 'freqdyna.frequency' has no attribute {name!r}")
