"""The paper's theory as functions: theorem 1, the uncertainty principle, Fourier series, bandwidth.

Integrals are computed in float64. `f` is written in JAX, from a point of shape (n,) to a scalar,
and `x` is the centre of the unit ball B(x, 1), shape (n,), in 1 or 2 dimensions: outside of the
ball, f is not used. docs/theory.md shows how to apply these functions to your own.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Shaped
from scipy.special import jv, roots_legendre

from freqdyna.core.errors import FreqdynaError
from freqdyna.frequency import Function, Point

NODES = 16
"""Gauss-Legendre nodes of a panel: enough for two full oscillations in it, up to rounding."""
WAVES = 16
"""Oscillations per unit length that a function may have; its square has twice as many and is still
integrated exactly."""
PANELS = WAVES
"""Panels along the radius of the ball: two oscillations of the square in each."""
ANGLES = 32 * WAVES
"""Directions in the plane: more than the 4π · WAVES oscillations of the square around it."""
SETTINGS = {"nodes": NODES, "panels": PANELS, "angles": ANGLES}
"""What an integral depends on in addition to its function."""

Centre = Shaped[np.ndarray, " n"] | Point
Numbers = Shaped[np.ndarray, " m"]
Vectors = Shaped[np.ndarray, "m n"]
Surface = Shaped[np.ndarray, "p q"]
Windows = Shaped[np.ndarray, "a b"]
Trend = Literal["mean", "plane"]
"""What is subtracted from each window of a surface before it is transformed."""


def gauss(low: float, high: float, panels: int) -> tuple[Numbers, Numbers]:
    """Nodes and weights of Gauss-Legendre quadrature on equal panels of [low, high]."""
    nodes, weights = roots_legendre(NODES)
    edges = np.linspace(low, high, panels + 1)
    half = (high - low) / panels / 2
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), np.tile(half * weights, panels)


def ball(n: int, panels: int = PANELS, angles: int = ANGLES) -> tuple[Vectors, Numbers]:
    """Nodes of shape (m, n) and weights of a quadrature over the unit ball around the origin."""
    if n == 1:
        nodes, weights = gauss(-1.0, 1.0, 2 * panels)
        return nodes[:, None], weights
    if n != 2:
        raise FreqdynaError(f"the point has {n} coordinates; it must have 1 or 2")
    radii, weights = gauss(0.0, 1.0, panels)
    turns = 2 * math.pi * np.arange(angles) / angles
    directions = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    points = radii[:, None, None] * directions
    each = np.repeat(weights * radii * 2 * math.pi / angles, angles)
    return points.reshape(-1, 2), each


def values(function: Callable[[Float[Array, " n"]], Array], points: Vectors) -> np.ndarray:
    """A function of one point, written in JAX, at many points, in float64: shape (m, ...)."""
    with jax.enable_x64(True):
        # Compiled as a whole: otherwise every operation of the function is a separate program.
        return np.asarray(jax.jit(jax.vmap(function))(np.asarray(points, np.float64)))


def interval_energy(f: Function, low: float, high: float, derivative: int = 0) -> float:
    """∫ |f⁽ᵈ⁾(y)|² dy over [low, high], for d = 0, 1, 2, ... and f of one coordinate."""

    def scalar(y: Float[Array, ""]) -> Float[Array, ""]:
        return f(y[None])

    for _ in range(derivative):
        scalar = jax.grad(scalar)
    nodes, weights = gauss(low, high, 2 * PANELS * math.ceil(high - low))
    return float(weights @ values(lambda y: scalar(y[0]), nodes[:, None]) ** 2)


def integral(function: Callable[[Float[Array, " n"]], Array], x: Centre) -> float:
    """∫ function(y) dy over B(x, 1)."""
    points, weights = ball(len(x))
    return float(weights @ values(function, np.asarray(x) + points))


def local_energy(f: Function, x: Centre) -> float:
    """∫ f(y)² dy over B(x, 1), the paper's equation 4."""
    return integral(lambda y: f(y) ** 2, x)


def local_gradient_energy(f: Function, x: Centre) -> float:
    """∫ ‖∇f(y)‖² dy over B(x, 1): the left-hand side of the theorem's first identity."""
    return integral(lambda y: jnp.sum(jax.grad(f)(y) ** 2), x)


def local_hessian_energy(f: Function, x: Centre) -> float:
    """∫ ‖H_f(y)‖²_F dy over B(x, 1): the left-hand side of the theorem's second identity."""
    return integral(lambda y: jnp.sum(jax.hessian(f)(y) ** 2), x)


def local_dispersion(f: Function, x: Centre) -> float:
    """∫ ‖y − x‖² f(y)² dy over B(x, 1): small where f is concentrated around `x`."""
    return integral(lambda y: jnp.sum((y - np.asarray(x)) ** 2) * f(y) ** 2, x)


def local_fourier_transform(f: Function, x: Centre, k: Vectors) -> Complex[np.ndarray, " m"]:
    """The local Fourier transform f̂(k) = ∫ f(y) exp(−2πi y·k) dy over B(x, 1), by rows of k."""
    longest = math.ceil(np.linalg.norm(k, axis=1).max(initial=0.0))
    # A plane wave of frequency ‖k‖ oscillates at most 2 · 2π‖k‖ times around the circle.
    points, weights = ball(len(x), PANELS + longest, ANGLES + 16 * longest)
    points = np.asarray(x) + points
    weighted = weights * values(f, points)
    return np.array([np.exp(-2j * math.pi * (points @ row)) @ weighted for row in k])


def radial_spectrum(f: Function, x: Centre, lengths: Numbers) -> Numbers:
    """The energy of f̂ at all frequency vectors of each length, per unit of length.

    In 1-D it is |f̂(ρ)|² + |f̂(−ρ)|². In 2-D it is the integral of |f̂|² around the circle of
    radius ρ, one Hankel transform for each Fourier coefficient of f around the centre.
    """
    if len(x) == 1:
        transform = local_fourier_transform(f, x, lengths[:, None])
        return 2 * np.abs(transform) ** 2  # f is real
    panels = PANELS + math.ceil(lengths.max() / 2)
    points, _ = ball(2, panels)
    radii, weights = gauss(0.0, 1.0, panels)
    around = values(f, np.asarray(x) + points).reshape(len(radii), ANGLES)
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

    cutoffs: Numbers
    energy: float
    """∫ f² over the ball."""
    captured: Numbers
    """The fraction of the energy at frequencies up to the cutoff; tends to one."""
    gradient: float
    """∫ ‖∇f‖² over the ball."""
    hessian: float
    """∫ ‖H_f‖²_F over the ball."""
    second_moment: Numbers
    """∫ π_f̂(k) ‖k‖² dk over ‖k‖ up to the cutoff."""
    fourth_moment: Numbers
    """∫ π_f̂(k) ‖k‖⁴ dk over ‖k‖ up to the cutoff."""

    @property
    def first_order(self) -> Numbers:
        """Right-hand side divided by left-hand side of the first identity, which tends to one."""
        return 4 * math.pi**2 * self.energy * self.second_moment / self.gradient

    @property
    def second_order(self) -> Numbers:
        """Right-hand side divided by left-hand side of the second identity."""
        return 16 * math.pi**4 * self.energy * self.fourth_moment / self.hessian


def theorem_identities(f: Function, x: Centre, cutoffs: tuple[int, ...]) -> Identities:
    """Both sides of Theorem 1 around a point; right-hand sides up to increasing integers."""
    if not cutoffs or any(a >= b for a, b in itertools.pairwise((0, *cutoffs))):
        raise FreqdynaError(f"cutoffs is {cutoffs!r}; it must be increasing integers from 1 on")
    lengths, weights = gauss(0.0, float(cutoffs[-1]), cutoffs[-1])
    energy = local_energy(f, x)
    distribution = weights * radial_spectrum(f, x, lengths) / energy
    ends = np.searchsorted(lengths, cutoffs) - 1

    def moment(power: int) -> Numbers:
        return np.cumsum(distribution * lengths**power)[ends]

    gradient, hessian = local_gradient_energy(f, x), local_hessian_energy(f, x)
    captured, second, fourth = map(moment, (0, 2, 4))
    return Identities(np.array(cutoffs), energy, captured, gradient, hessian, second, fourth)


def uncertainty_ratio(f: Function, x: Centre) -> float:
    """Dispersion × gradient energy, divided by its bound n²/4 × energy² (the paper's appendix).

    It is at least one for every f that vanishes on the ball's boundary. The paper's 1/4, and its
    1/(16π²) for frequencies, are the bound for n = 1 and energy one. For a function that does not
    vanish there it can be less: a constant has zero gradient inside the ball.
    """
    bound = len(x) ** 2 / 4 * local_energy(f, x) ** 2
    return local_dispersion(f, x) * local_gradient_energy(f, x) / bound


def fourier_series(constant: float, cosines: Numbers, sines: Numbers, x: Point) -> Float[Array, ""]:
    """Example 2: a₀/2 + Σₙ aₙ cos(nx) + bₙ sin(nx), n = 1, ..., N, at one point of shape (1,)."""
    waves = jnp.arange(1, len(cosines) + 1) * x[0]
    return constant / 2 + cosines @ jnp.cos(waves) + sines @ jnp.sin(waves)


def series_energy(derivative: int, cosines: Numbers, sines: Numbers) -> float:
    """∫ |f⁽ᵈ⁾|² over [−π, π] as stated in example 2: π Σ n²ᵈ (aₙ² + bₙ²), for d ≥ 1."""
    weights = np.arange(1, len(cosines) + 1, dtype=float) ** (2 * derivative)
    return float(math.pi * (weights @ (cosines**2 + sines**2)))


@dataclass(frozen=True)
class LocalSpectrum:
    """Energy and bandwidth in each window; the first index follows the first coordinate."""

    energy: Windows
    """Energy in the window after subtracting the trend: the sum of |f̂(k)|² over frequencies."""
    second_moment: Windows
    """Mean of ‖k‖² over the local frequency distribution |f̂|² / Σ|f̂|²."""

    @property
    def bandwidth(self) -> Windows:
        """The root mean square frequency, in cycles per unit of the coordinates."""
        return np.sqrt(self.second_moment)


def local_spectrum(
    surface: Surface, spacing: tuple[float, float], size: int, stride: int, trend: Trend = "plane"
) -> LocalSpectrum:
    """The energy and the bandwidth in each window of a surface on an even grid.

    Windows have `size` points per side and are `stride` points apart; `spacing` is the distance of
    neighbouring points along each coordinate. The trend is subtracted first: a constant or a plane
    has no frequency, but the taper would add its own, which would dominate on a smooth surface. If
    only the mean is subtracted, the spectrum is that of theorem 1, including slopes.
    """
    pieces = _without_trend(_windows(surface.astype(np.float64), size, stride), trend)
    power = np.abs(np.fft.fft2(pieces * _taper(size))) ** 2
    first, second = (np.fft.fftfreq(size, step) for step in spacing)
    squared_length = first[:, None] ** 2 + second**2
    energy = power.sum(axis=(2, 3))
    moment = (power * squared_length).sum(axis=(2, 3)) / np.maximum(energy, 1e-300)
    return LocalSpectrum(energy, moment)


def window_means(surface: Surface, size: int, stride: int) -> Windows:
    """The mean of a surface in each window, with the same weights as `local_spectrum`."""
    weights = _taper(size) ** 2
    return (_windows(surface, size, stride) * weights).sum(axis=(2, 3)) / weights.sum()


def _windows(surface: Surface, size: int, stride: int) -> Shaped[np.ndarray, "a b size size"]:
    """The square windows of `size` points per side, `stride` points apart."""
    pieces = np.lib.stride_tricks.sliding_window_view(surface, (size, size))
    return pieces[::stride, ::stride]


def _taper(size: int) -> Shaped[np.ndarray, "size size"]:
    """A Hann window, zero at the edge, so that the edge of the window adds no frequencies."""
    line = np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2
    return np.outer(line, line)


def _without_trend(
    pieces: Shaped[np.ndarray, "a b size size"], trend: Trend
) -> Shaped[np.ndarray, "a b size size"]:
    """The windows minus their mean or best-fit plane, by least squares weighted by the taper."""
    window = _taper(pieces.shape[-1])
    line = np.arange(len(window)) - (len(window) - 1) / 2
    level, slopes = np.ones_like(window), np.meshgrid(line, line, indexing="ij")
    # Orthogonal under the taper, which is symmetric, so each term is fitted separately.
    for shape in [level] if trend == "mean" else [level, *slopes]:
        heights = (pieces * window * shape).sum(axis=(2, 3), keepdims=True)
        pieces = pieces - heights / (window * shape**2).sum() * shape
    return pieces
