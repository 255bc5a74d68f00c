"""The paper's theorem, the uncertainty principle, Fourier series and local bandwidth."""

from reproduction.theory_old.bandwidth import LocalSpectrum, local_spectrum
from reproduction.theory_old.fourier_series import FourierSeries
from reproduction.theory_old.quadrature import interval_energy
from reproduction.theory_old.theorem import (
    Identities,
    local_energy,
    local_fourier_transform,
    local_frequency_distribution,
    local_gradient_energy,
    local_hessian_energy,
    radial_spectrum,
    theorem_identities,
)
from reproduction.theory_old.uncertainty import local_dispersion, uncertainty_ratio

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
