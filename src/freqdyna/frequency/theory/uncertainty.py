"""The uncertainty principle beside Theorem 1 (the paper's appendix)."""

import numpy as np

from freqdyna.frequency.local import Function
from freqdyna.frequency.theory import quadrature
from freqdyna.frequency.theory.theorem import Centre, local_energy, local_gradient_energy


def local_dispersion(f: Function, x: Centre) -> float:
    """∫ ‖y − x‖² f(y)² dy over B(x, 1): small where f is concentrated around `x`."""
    points, weights = quadrature.ball(len(x))
    squares = quadrature.values(f, np.asarray(x) + points) ** 2
    return float(weights @ ((points**2).sum(axis=1) * squares))


def uncertainty_ratio(f: Function, x: Centre) -> float:
    """Dispersion × gradient energy, by its bound n²/4 × energy²; shape of `x` is (n,).

    It is at least one for every f that vanishes on the ball's boundary. The paper's 1/4, and its
    1/(16π²) for frequencies, are the bound for n = 1 and energy one. A function that does not
    vanish there can fall below: a constant has no gradient at all inside the ball.
    """
    bound = len(x) ** 2 / 4 * local_energy(f, x) ** 2
    return local_dispersion(f, x) * local_gradient_energy(f, x) / bound
