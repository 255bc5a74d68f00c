"""The local bandwidth of a surface, by a windowed Fourier transform."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Shaped


@dataclass(frozen=True)
class LocalSpectrum:
    """What a window sees at each of its places; the first index follows the first coordinate."""

    energy: Shaped[np.ndarray, "a b"]
    """Energy inside the window, mean removed: the sum of |f̂(k)|² over frequencies."""
    second_moment: Shaped[np.ndarray, "a b"]
    """Mean of ‖k‖² over the local frequency distribution |f̂|² / Σ|f̂|²."""

    @property
    def bandwidth(self) -> Shaped[np.ndarray, "a b"]:
        """The root mean square frequency, in cycles per unit of the coordinates."""
        return np.sqrt(self.second_moment)


def windows(
    surface: Shaped[np.ndarray, "p q"], size: int, stride: int
) -> Shaped[np.ndarray, "a b size size"]:
    """The square pieces of `size` points that lie `stride` points apart."""
    pieces = np.lib.stride_tricks.sliding_window_view(surface, (size, size))
    return pieces[::stride, ::stride]


def taper(size: int) -> Shaped[np.ndarray, "size size"]:
    """A Hann window, zero at the edge, so that the piece's own edge adds no frequencies."""
    line = np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2
    return np.outer(line, line)


def local_spectrum(
    surface: Shaped[np.ndarray, "p q"], spacing: tuple[float, float], size: int, stride: int
) -> LocalSpectrum:
    """The energy and the bandwidth in each window of a surface on an even grid.

    `spacing` is the distance of neighbouring points along each coordinate. The mean under the
    taper is removed first: a constant has no bandwidth, and the taper would lend it its own.
    """
    pieces, window = windows(surface.astype(np.float64), size, stride), taper(size)
    means = (pieces * window).sum(axis=(2, 3), keepdims=True) / window.sum()
    power = np.abs(np.fft.fft2((pieces - means) * window)) ** 2
    first, second = (np.fft.fftfreq(size, step) for step in spacing)
    squared_length = first[:, None] ** 2 + second**2
    energy = power.sum(axis=(2, 3))
    moment = (power * squared_length).sum(axis=(2, 3)) / np.maximum(energy, 1e-300)
    return LocalSpectrum(energy, moment)


def window_means(
    surface: Shaped[np.ndarray, "p q"], size: int, stride: int
) -> Shaped[np.ndarray, "a b"]:
    """The mean of a surface in each window of `local_spectrum`, weighted alike."""
    weights = taper(size) ** 2
    return (windows(surface, size, stride) * weights).sum(axis=(2, 3)) / weights.sum()
