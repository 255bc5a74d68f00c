"""Theorem 1 as functions: the local Fourier transform, energy and frequency distribution.

All of these functions only use f inside the unit ball B(x, 1), in 1 or 2 dimensions, and compute in
float64. `f` is written in JAX, from a point of shape (n,) to a scalar; `x` is the centre of the
ball, shape (n,).
"""

import itertools
import math
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Complex, Float, Shaped
from scipy.special import jv

from freqdyna.core.errors import FreqdynaError
from freqdyna.frequency.local import Function, Point
from reproduction.theory_old import quadrature
from reproduction.theory_old.quadrature import ANGLES, PANELS

Centre = Shaped[np.ndarray, " n"] | Point
Numbers = Float[np.ndarray, " m"]


def local_energy(f: Function, x: Centre) -> float:
    """∫ f(y)² dy over B(x, 1), the paper's equation 4."""
    points, weights = quadrature.ball(len(x))
    return float(weights @ quadrature.values(f, np.asarray(x) + points) ** 2)


def local_gradient_energy(f: Function, x: Centre) -> float:
    """∫ ‖∇f(y)‖² dy over B(x, 1): the left-hand side of the theorem's first identity."""
    points, weights = quadrature.ball(len(x))
    gradients = quadrature.values(jax.grad(f), np.asarray(x) + points)
    return float(weights @ (gradients**2).sum(axis=1))


def local_hessian_energy(f: Function, x: Centre) -> float:
    """∫ ‖H_f(y)‖²_F dy over B(x, 1): the left-hand side of the theorem's second identity."""
    points, weights = quadrature.ball(len(x))
    hessians = quadrature.values(jax.hessian(f), np.asarray(x) + points)
    return float(weights @ (hessians**2).sum(axis=(1, 2)))


def local_fourier_transform(
    f: Function, x: Centre, k: Shaped[np.ndarray, "m n"]
) -> Complex[np.ndarray, " m"]:
    """The local Fourier transform f̂(k) = ∫ f(y) exp(−2πi y·k) dy over B(x, 1).

    Args:
        f: From a point of shape (n,) to a scalar.
        x: The centre of the ball, shape (n,).
        k: Frequency vectors, one per row, shape (m, n).

    Returns:
        Complex values of shape (m,).

    """
    longest = math.ceil(np.linalg.norm(k, axis=1).max(initial=0.0))
    # A plane wave of frequency ‖k‖ oscillates at most 2 · 2π‖k‖ times around the circle.
    points, weights = quadrature.ball(len(x), PANELS + longest, ANGLES + 16 * longest)
    points = np.asarray(x) + points
    weighted = weights * quadrature.values(f, points)
    return np.array([np.exp(-2j * math.pi * (points @ row)) @ weighted for row in k])


def local_frequency_distribution(
    f: Function, x: Centre, k: Shaped[np.ndarray, "m n"]
) -> Shaped[np.ndarray, " m"]:
    """The local frequency distribution π_f̂(k) = |f̂(k)|² / ∫ |f̂|², the paper's equation 5.

    The integral equals the local energy. The arguments are those of `local_fourier_transform`.

    Returns:
        Densities of shape (m,).

    """
    return np.abs(local_fourier_transform(f, x, k)) ** 2 / local_energy(f, x)


def radial_spectrum(
    f: Function, x: Centre, lengths: Shaped[np.ndarray, " m"]
) -> Shaped[np.ndarray, " m"]:
    """The energy of f̂ at all frequency vectors of each length, per unit of length.

    In 1-D it is |f̂(ρ)|² + |f̂(−ρ)|². In 2-D it is the integral of |f̂|² around the circle of
    radius ρ, one Hankel transform for each Fourier coefficient of f around the centre.

    Args:
        f: From a point of shape (n,) to a scalar.
        x: The centre of the ball, shape (n,).
        lengths: The lengths ρ, shape (m,).

    Returns:
        Energies of shape (m,).

    """
    if len(x) == 1:
        transform = local_fourier_transform(f, x, lengths[:, None])
        return 2 * np.abs(transform) ** 2  # f is real
    panels = PANELS + math.ceil(lengths.max() / 2)
    points, _ = quadrature.ball(2, panels)
    radii, weights = quadrature.gauss(0.0, 1.0, panels)
    around = quadrature.values(f, np.asarray(x) + points).reshape(len(radii), ANGLES)
    coefficients = np.fft.rfft(around, axis=1) / ANGLES
    shares = (weights * radii) @ np.abs(coefficients) ** 2
    total = np.zeros(len(lengths))
    for m in np.flatnonzero(shares > 1e-26 * shares.sum()):
        bessel = jv(m, 2 * math.pi * np.outer(lengths, radii))
        hankel = 2 * math.pi * bessel @ (weights * radii * coefficients[:, m])
        both = 1 if m == 0 else 2  # f is real: the coefficients of m and −m are conjugate
        total += both * np.abs(hankel) ** 2
    return 2 * math.pi * lengths * total


@dataclass(frozen=True)
class Identities:
    """Both sides of Theorem 1 around one point; right-hand sides up to each frequency cutoff."""

    cutoffs: Shaped[np.ndarray, " c"]
    energy: float
    """∫ f² over the ball."""
    captured: Shaped[np.ndarray, " c"]
    """The fraction of the energy at frequencies up to the cutoff; tends to one."""
    gradient: float
    """∫ ‖∇f‖² over the ball."""
    hessian: float
    """∫ ‖H_f‖²_F over the ball."""
    second_moment: Shaped[np.ndarray, " c"]
    """∫ π_f̂(k) ‖k‖² dk over ‖k‖ up to the cutoff."""
    fourth_moment: Shaped[np.ndarray, " c"]
    """∫ π_f̂(k) ‖k‖⁴ dk over ‖k‖ up to the cutoff."""

    @property
    def first_order(self) -> Shaped[np.ndarray, " c"]:
        """Right-hand side divided by left-hand side of the first identity, which tends to one."""
        return 4 * math.pi**2 * self.energy * self.second_moment / self.gradient

    @property
    def second_order(self) -> Shaped[np.ndarray, " c"]:
        """Right-hand side divided by left-hand side of the second identity."""
        return 16 * math.pi**4 * self.energy * self.fourth_moment / self.hessian


def theorem_identities(f: Function, x: Centre, cutoffs: tuple[int, ...]) -> Identities:
    """Compute both sides of Theorem 1 around a point.

    Args:
        f: From a point of shape (n,) to a scalar, written in JAX.
        x: The centre of the ball, shape (n,).
        cutoffs: Frequencies up to which the right-hand sides are integrated: increasing integers.

    """
    integers = all(cutoff >= 1 and cutoff == int(cutoff) for cutoff in cutoffs)
    if not cutoffs or not integers or any(a >= b for a, b in itertools.pairwise(cutoffs)):
        raise FreqdynaError(
            f"cutoffs is {cutoffs!r}; it must be one or more integers, 1 or greater, each "
            "greater than the one before"
        )
    lengths, weights = quadrature.gauss(0.0, float(cutoffs[-1]), cutoffs[-1])
    energy = local_energy(f, x)
    distribution = weights * radial_spectrum(f, x, lengths) / energy
    ends = np.searchsorted(lengths, cutoffs) - 1

    def moment(power: int) -> Shaped[np.ndarray, " c"]:
        return np.cumsum(distribution * lengths**power)[ends]

    return Identities(
        cutoffs=np.array(cutoffs),
        energy=energy,
        captured=moment(0),
        gradient=local_gradient_energy(f, x),
        hessian=local_hessian_energy(f, x),
        second_moment=moment(2),
        fourth_moment=moment(4),
    )
