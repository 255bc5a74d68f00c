"""The uncertainty principle that complements Theorem 1 (the paper's appendix)."""

import numpy as np

from freqdyna.frequency.local import Function
from reproduction.theory_old import quadrature
from reproduction.theory_old.theorem import Centre, local_energy, local_gradient_energy


def local_dispersion(f: Function, x: Centre) -> float:
    """∫ ‖y − x‖² f(y)² dy over B(x, 1): small where f is concentrated around `x`."""
    points, weights = quadrature.ball(len(x))
    squares = quadrature.values(f, np.asarray(x) + points) ** 2
    return float(weights @ ((points**2).sum(axis=1) * squares))


def uncertainty_ratio(f: Function, x: Centre) -> float:
    """Dispersion × gradient energy, divided by its bound n²/4 × energy².

    It is at least one for every f that vanishes on the ball's boundary. The paper's 1/4, and its
    1/(16π²) for frequencies, are the bound for n = 1 and energy one. For a function that does not
    vanish there it can be less: a constant has zero gradient inside the ball.

    Args:
        f: From a point of shape (n,) to a scalar, written in JAX.
        x: The centre of the ball, shape (n,).

    """
    bound = len(x) ** 2 / 4 * local_energy(f, x) ** 2
    return local_dispersion(f, x) * local_gradient_energy(f, x) / bound
