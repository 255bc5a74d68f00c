"""An unbiased estimate of g and its gradient that never forms the Hessian.

For a random vector v with E vvᵀ = I, such as random signs, E‖Hv‖² = ‖H‖²_F. Each such probe costs
one directional derivative of the gradient, whereas H needs one for each of the n coordinates.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.frequency.local import Function, Point, Scalar

Probes = Float[Array, "k n"]


def random_signs(key: PRNGKeyArray, count: int, n: int) -> Probes:
    """Probes of independent random signs.

    Args:
        key: A random key.
        count: The number of probes.
        n: The number of coordinates.

    Returns:
        Shape (count, n); every entry is 1 or -1.

    """
    return jax.random.rademacher(key, (count, n), jnp.result_type(float))


def stochastic_frequency(
    function: Function,
    x: Point,
    gradient_weight: float | Scalar,
    hessian_weight: float | Scalar,
    probes: Probes,
) -> tuple[Scalar, Point]:
    """An unbiased estimate of the local frequency at a point, and the gradient there.

    Args:
        function: f, from a point of shape (n,) to a scalar.
        x: The point, shape (n,).
        gradient_weight: η₁.
        hessian_weight: η₂.
        probes: Random vectors v with E vvᵀ = I, shape (k, n), such as `random_signs`.

    Returns:
        η₁‖∇f‖² + η₂ · (the mean of ‖Hv‖² over the probes), and ∇f of shape (n,).

    """
    gradient, along = jax.linearize(jax.grad(function), x)
    hessian_norm = jnp.sum(jax.vmap(along)(probes) ** 2) / probes.shape[0]
    return gradient_weight * jnp.sum(gradient**2) + hessian_weight * hessian_norm, gradient


def stochastic_slopes(
    function: Function,
    x: Point,
    gradient_weight: float | Scalar,
    hessian_weight: float | Scalar,
    probes: Probes,
) -> tuple[Point, Point]:
    """An unbiased estimate of ∇g at a point, and ∇f there.

    The estimate is the gradient of `stochastic_frequency`, which has the same arguments.

    Returns:
        Both gradients, each of shape (n,).

    """

    def frequency(y: Point) -> tuple[Scalar, Point]:
        return stochastic_frequency(function, y, gradient_weight, hessian_weight, probes)

    return jax.grad(frequency, has_aux=True)(x)
