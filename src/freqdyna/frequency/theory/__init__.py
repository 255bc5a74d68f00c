"""The paper's theorem, the uncertainty principle, Fourier series and local bandwidth."""

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
    "FourierSeries",
    "Identities",
    "LocalSpectrum",
    "interval_energy",
    "local_dispersion",
    "local_energy",
    "local_fourier_transform",
    "local_frequency_distribution",
    "local_gradient_energy",
    "local_hessian_energy",
    "local_spectrum",
    "radial_spectrum",
    "theorem_identities",
    "uncertainty_ratio",
]
