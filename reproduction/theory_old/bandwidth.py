"""The local bandwidth of a surface, computed by a windowed Fourier transform."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Shaped

Trend = Literal["mean", "plane"]
"""What is subtracted from each window of the surface before it is transformed."""


@dataclass(frozen=True)
class LocalSpectrum:
    """Energy and bandwidth in each window; the first index follows the first coordinate."""

    energy: Shaped[np.ndarray, "a b"]
    """Energy in the window after subtracting the trend: the sum of |f̂(k)|² over frequencies."""
    second_moment: Shaped[np.ndarray, "a b"]
    """Mean of ‖k‖² over the local frequency distribution |f̂|² / Σ|f̂|²."""

    @property
    def bandwidth(self) -> Shaped[np.ndarray, "a b"]:
        """The root mean square frequency, in cycles per unit of the coordinates."""
        return np.sqrt(self.second_moment)


def windows(
    surface: Shaped[np.ndarray, "p q"], size: int, stride: int
) -> Shaped[np.ndarray, "a b size size"]:
    """The square windows of `size` points per side, `stride` points apart."""
    pieces = np.lib.stride_tricks.sliding_window_view(surface, (size, size))
    return pieces[::stride, ::stride]


def taper(size: int) -> Shaped[np.ndarray, "size size"]:
    """A Hann window, zero at the edge, so that the edge of the window adds no frequencies."""
    line = np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2
    return np.outer(line, line)


def without_trend(
    pieces: Shaped[np.ndarray, "a b size size"], trend: Trend
) -> Shaped[np.ndarray, "a b size size"]:
    """The windows minus their mean or best-fit plane, by least squares weighted by the taper."""
    window = taper(pieces.shape[-1])
    line = np.arange(len(window)) - (len(window) - 1) / 2
    level, slopes = np.ones_like(window), np.meshgrid(line, line, indexing="ij")
    # Orthogonal under the taper, which is symmetric, so each term is fitted separately.
    for shape in [level] if trend == "mean" else [level, *slopes]:
        heights = (pieces * window * shape).sum(axis=(2, 3), keepdims=True)
        pieces = pieces - heights / (window * shape**2).sum() * shape
    return pieces


def local_spectrum(
    surface: Shaped[np.ndarray, "p q"],
    spacing: tuple[float, float],
    size: int,
    stride: int,
    trend: Trend = "plane",
) -> LocalSpectrum:
    """The energy and the bandwidth in each window of a surface on an even grid.

    The trend is subtracted first: a constant or a plane has no frequency, but the taper would add
    its own, which would dominate on a smooth surface. If only the mean is subtracted, the spectrum
    is that of theorem 1, including slopes.

    Args:
        surface: Values on the grid, shape (p, q).
        spacing: The distance between neighbouring points along each coordinate.
        size: Points per side of a window.
        stride: Points between successive windows.
        trend: What to subtract from each window.

    """
    pieces = without_trend(windows(surface.astype(np.float64), size, stride), trend)
    power = np.abs(np.fft.fft2(pieces * taper(size))) ** 2
    first, second = (np.fft.fftfreq(size, step) for step in spacing)
    squared_length = first[:, None] ** 2 + second**2
    energy = power.sum(axis=(2, 3))
    moment = (power * squared_length).sum(axis=(2, 3)) / np.maximum(energy, 1e-300)
    return LocalSpectrum(energy, moment)


def window_means(
    surface: Shaped[np.ndarray, "p q"], size: int, stride: int
) -> Shaped[np.ndarray, "a b"]:
    """The mean of a surface in each window, with the same weights as `local_spectrum`."""
    weights = taper(size) ** 2
    return (windows(surface, size, stride) * weights).sum(axis=(2, 3)) / weights.sum()
