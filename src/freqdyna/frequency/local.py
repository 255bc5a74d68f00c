"""g(x) = ‖∇f(x)‖² + ‖H_f(x)‖²_F of any differentiable function, and its gradient."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Scalar = Float[Array, ""]
Point = Float[Array, " n"]
Function = Callable[[Point], Scalar]


class Derivatives(eqx.Module):
    """A function's value, gradient and Hessian at one point."""

    value: Scalar
    gradient: Float[Array, " n"]
    hessian: Float[Array, "n n"]

    @staticmethod
    def of(function: Function, x: Point) -> "Derivatives":
        """The derivatives of a function, by automatic differentiation.

        Args:
            function: Twice differentiable, from a point of shape (n,) to a scalar.
            x: The point, shape (n,).

        """
        value, gradient = jax.value_and_grad(function)(x)
        return Derivatives(value, gradient, jax.hessian(function)(x))

    def gradient_norm(self) -> Scalar:
        """‖∇f‖², squared so that its own gradient is finite where the gradient vanishes."""
        return jnp.sum(self.gradient**2)

    def hessian_norm(self) -> Scalar:
        """‖H‖²_F, the squared Frobenius norm."""
        return jnp.sum(self.hessian**2)

    def frequency(
        self, gradient_weight: float | Scalar = 1.0, hessian_weight: float | Scalar = 1.0
    ) -> Scalar:
        """The local frequency, in the general form of the paper's appendix.

        Args:
            gradient_weight: η₁.
            hessian_weight: η₂.

        Returns:
            η₁‖∇f‖² + η₂‖H‖²_F, a scalar.

        """
        return gradient_weight * self.gradient_norm() + hessian_weight * self.hessian_norm()


Slopes = Callable[[Point, float, float], tuple[Point, Point]]
"""From (x, η₁, η₂) to ∇g and ∇f at x."""


def reverse_slopes(
    derivatives: Callable[[Point], Derivatives],
    x: Point,
    gradient_weight: float | Scalar,
    hessian_weight: float | Scalar,
) -> tuple[Point, Point]:
    """∇g and ∇f at a point, by one reverse pass through the first two derivatives.

    Args:
        derivatives: The value, gradient and Hessian of f at a point.
        x: The point, shape (n,).
        gradient_weight: η₁.
        hessian_weight: η₂.

    Returns:
        ∇g and ∇f, both of shape (n,), with g = η₁‖∇f‖² + η₂‖H‖²_F.

    """

    def frequency(y: Point) -> tuple[Scalar, Point]:
        at = derivatives(y)
        return at.frequency(gradient_weight, hessian_weight), at.gradient

    return jax.grad(frequency, has_aux=True)(x)


def local_frequency(
    f: Function,
    x: Point,
    gradient_weight: float | Scalar = 1.0,
    hessian_weight: float | Scalar = 1.0,
) -> Scalar:
    """The local frequency of a function at a point (the paper's equation 3).

    Args:
        f: Twice differentiable, from a point of shape (n,) to a scalar, written in JAX.
        x: The point, shape (n,).
        gradient_weight: η₁.
        hessian_weight: η₂.

    Returns:
        g(x) = η₁‖∇f(x)‖² + η₂‖H_f(x)‖²_F, a scalar.

    """
    return Derivatives.of(f, x).frequency(gradient_weight, hessian_weight)


def local_frequency_gradient(
    f: Function,
    x: Point,
    gradient_weight: float | Scalar = 1.0,
    hessian_weight: float | Scalar = 1.0,
) -> Point:
    """The gradient of the local frequency: the direction in which it increases fastest.

    Args:
        f: Three times differentiable, from a point of shape (n,) to a scalar, written in JAX.
        x: The point, shape (n,).
        gradient_weight: η₁.
        hessian_weight: η₂.

    Returns:
        ∇g(x), shape (n,).

    """
    return jax.grad(lambda y: local_frequency(f, y, gradient_weight, hessian_weight))(x)
