"""The local frequency g(x) = ‖∇f(x)‖² + ‖H_f(x)‖²_F (the paper's equation 3), and its gradient.

`local_frequency` is g of any differentiable function. `stochastic_slopes` estimates its gradient
without the Hessian: for a random vector v with E vvᵀ = I, such as random signs, E‖Hv‖² = ‖H‖²_F.
Each such probe costs one directional derivative of the gradient, whereas H needs one for each of
the n coordinates.
"""

import abc
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = [
    "Derivatives",
    "Slopes",
    "local_frequency",
    "local_frequency_gradient",
    "random_signs",
    "stochastic_frequency",
    "stochastic_slopes",
]

Scalar = Float[Array, ""]
Point = Float[Array, " n"]
Function = Callable[[Point], Scalar]
Probes = Float[Array, "k n"]
Slopes = Callable[[Point, float | Scalar, float | Scalar], tuple[Point, Point]]
"""From (x, η₁, η₂) to ∇g and ∇f at x."""


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
        """η₁‖∇f‖² + η₂‖H‖²_F: the local frequency, in the general form of the paper's appendix."""
        return gradient_weight * self.gradient_norm() + hessian_weight * self.hessian_norm()


class ValueFunction(eqx.Module):
    """A function of a state with the derivatives that searches need."""

    iterations_at_once: ClassVar[int] = 8
    """How many climbing iterations are unrolled at most; 1 if one is a large program, which would
    take minutes to compile."""

    @abc.abstractmethod
    def __call__(self, state: Point) -> Scalar:
        """V(s)."""

    @abc.abstractmethod
    def derivatives(self, state: Point) -> Derivatives:
        """V, ∇V and H_V."""

    @abc.abstractmethod
    def slopes(
        self, state: Point, gradient_weight: float | Scalar, hessian_weight: float | Scalar
    ) -> tuple[Point, Point]:
        """∇g and ∇V, with g = η₁‖∇V‖² + η₂‖H_V‖²_F."""


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
