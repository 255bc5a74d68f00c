"""Running statistics of the visited states, which determine the scale of climbs."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Visited(eqx.Module):
    """Mean, covariance, mean step and range, updated state by state (Welford's method)."""

    count: Float[Array, ""]
    mean: Float[Array, " n"]
    scatter: Float[Array, "n n"]
    """Sum of the outer products of the deviations from the mean."""
    mean_step: Float[Array, ""]
    """Mean of ‖s_{t+1} − s_t‖₂/√n (the paper's ε_a)."""
    low: Float[Array, " n"]
    high: Float[Array, " n"]
    """The smallest and the largest value of each coordinate so far."""

    @staticmethod
    def empty(n: int) -> "Visited":
        """The statistics before the first state."""
        far = jnp.full(n, jnp.inf, float)  # an explicit type: a weak type causes recompilation
        return Visited(jnp.zeros(()), jnp.zeros(n), jnp.zeros((n, n)), jnp.zeros(()), far, -far)

    def add(self, state: Float[Array, " n"], next_state: Float[Array, " n"]) -> "Visited":
        """Add a state and the step from it to the next state."""
        count = self.count + 1
        deviation = state - self.mean
        mean = self.mean + deviation / count
        step = jnp.linalg.norm(next_state - state) / jnp.sqrt(state.shape[0])
        return Visited(
            count,
            mean,
            self.scatter + jnp.outer(deviation, state - mean),
            self.mean_step + (step - self.mean_step) / count,
            jnp.minimum(self.low, state),
            jnp.maximum(self.high, state),
        )

    def covariance(self) -> Float[Array, "n n"]:
        """The empirical covariance; zero before the second state."""
        return self.scatter / jnp.maximum(self.count - 1, 1)
