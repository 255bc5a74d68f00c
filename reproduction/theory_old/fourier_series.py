"""Band-limited functions on [−π, π] (the paper's example 2)."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class FourierSeries(eqx.Module):
    """f(x) = a₀/2 + Σₙ aₙ cos(nx) + bₙ sin(nx), n = 1, ..., N."""

    constant: Float[Array, ""]
    """a₀."""
    cosines: Float[Array, " N"]
    """a₁, ..., a_N."""
    sines: Float[Array, " N"]
    """b₁, ..., b_N."""

    def __call__(self, x: Float[Array, " 1"]) -> Float[Array, ""]:
        """The series at one point of shape (1,)."""
        waves = jnp.arange(1, len(self.cosines) + 1) * x[0]
        return self.constant / 2 + self.cosines @ jnp.cos(waves) + self.sines @ jnp.sin(waves)

    def derivative_energy(self, derivative: int) -> Float[Array, ""]:
        """∫ |f⁽ᵈ⁾|² over [−π, π], as stated in example 2.

        Args:
            derivative: d, at least 1.

        Returns:
            π Σ n²ᵈ (aₙ² + bₙ²).

        """
        n = jnp.arange(1, len(self.cosines) + 1)
        weights = (n * jnp.ones_like(self.cosines)) ** (2 * derivative)
        return math.pi * jnp.sum(weights * (self.cosines**2 + self.sines**2))
