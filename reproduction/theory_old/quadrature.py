"""Integrals of smooth functions in float64: over an interval, and over the unit ball B(x, 1)."""

import functools
import math
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Array, Float, Shaped
from scipy.special import roots_legendre

from freqdyna.core.errors import FreqdynaError
from freqdyna.frequency.local import Function

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

Numbers = Shaped[np.ndarray, " q"]


@functools.cache
def _panel() -> tuple[Numbers, Numbers]:
    return roots_legendre(NODES)


def gauss(low: float, high: float, panels: int) -> tuple[Numbers, Numbers]:
    """Nodes and weights of Gauss-Legendre quadrature on equal panels of [low, high].

    Returns:
        Two arrays of shape (panels · NODES,).

    """
    nodes, weights = _panel()
    edges = np.linspace(low, high, panels + 1)
    half = (high - low) / panels / 2
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), np.tile(half * weights, panels)


def ball(
    n: int, panels: int = PANELS, angles: int = ANGLES
) -> tuple[Shaped[np.ndarray, "q n"], Numbers]:
    """Nodes and weights of a quadrature over the unit ball around the origin.

    Args:
        n: The number of dimensions, 1 or 2.
        panels: Panels along the radius.
        angles: Directions, for n = 2.

    Returns:
        The nodes, shape (q, n), and their weights, shape (q,).

    """
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


def values(
    function: Callable[[Float[Array, " n"]], Array], points: Shaped[np.ndarray, "q n"]
) -> np.ndarray:
    """A function at many points, in float64.

    Args:
        function: Written in JAX for one point of shape (n,).
        points: Shape (q, n).

    Returns:
        Shape (q, ...).

    """
    with jax.enable_x64(True):
        # Compiled as a whole: otherwise every operation of the function is a separate program.
        return np.asarray(jax.jit(jax.vmap(function))(np.asarray(points, np.float64)))


def interval_energy(f: Function, low: float, high: float, derivative: int = 0) -> float:
    """∫ |f⁽ᵈ⁾(y)|² dy over [low, high].

    Args:
        f: From a point of shape (1,) to a scalar, written in JAX.
        low: The lower end of the interval.
        high: The upper end of the interval.
        derivative: d = 0, 1, 2, ...

    """

    def scalar(y: Float[Array, ""]) -> Float[Array, ""]:
        return f(y[None])

    for _ in range(derivative):
        scalar = jax.grad(scalar)
    nodes, weights = gauss(low, high, 2 * PANELS * math.ceil(high - low))
    return float(weights @ values(lambda y: scalar(y[0]), nodes[:, None]) ** 2)
