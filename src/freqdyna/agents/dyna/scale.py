"""Observations as the network sees them: scaled by their bounds, or by running statistics.

The map is affine, so a network of scaled observations is also a network of the observations
themselves: the map is folded into its first layer. Everything outside the updates uses that one.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.agents.dyna.state import Visited
from freqdyna.agents.learners import Learner
from freqdyna.agents.networks import FirstLayer
from freqdyna.envs.space import Space

SMALLEST = 1e-6
"""A coordinate with a smaller standard deviation is not divided by it."""
MOST_RANGES = 10.0
"""A box that is wider than so many ranges of the visited states says nothing about units."""
ROUNDING = 1e-5
"""A range that is smaller, relative to the states, may be rounding."""


class ObservationScale(eqx.Module):
    """The map x = (s − centre) / half of each coordinate."""

    centre: Float[Array, " n"]
    half: Float[Array, " n"]

    @staticmethod
    def of(space: Space, visited: Visited) -> "ObservationScale":
        """The scale of a space, from its bounds and from statistics of the visited states.

        Bounds become ±1. Coordinates without bounds have their mean and standard deviation.
        Generous bounds, such as ±1000 for a temperature, become ten times what was visited.
        """
        known = np.isfinite(space.low) & np.isfinite(space.high)
        low, high = np.where(known, space.low, -1.0), np.where(known, space.high, 1.0)
        middle = jnp.asarray((low + high) / 2, float)
        bound = jnp.asarray(np.where(high > low, (high - low) / 2, 1.0), float)
        seen = (visited.high - visited.low) / 2  # minus infinity before the first state
        varies = seen > ROUNDING * jnp.maximum(jnp.abs(visited.low), jnp.abs(visited.high))
        half = jnp.where(varies, jnp.minimum(bound, MOST_RANGES * seen), bound)
        # From the middle of the box to that of the states, as the box becomes too wide.
        seen_middle = jnp.where(varies, (visited.low + visited.high) / 2, middle)
        centre = seen_middle + half / bound * (middle - seen_middle)
        deviation = jnp.sqrt(jnp.diagonal(visited.covariance()))
        return ObservationScale(
            jnp.where(known, centre, visited.mean),
            jnp.where(known, half, jnp.where(deviation > SMALLEST, deviation, 1.0)),
        )

    def __call__(self, states: Float[Array, "*k n"]) -> Float[Array, "*k n"]:
        """Scaled states."""
        return (states - self.centre) / self.half

    def of_rows(self, rows: Float[Array, "batch width"]) -> Float[Array, "batch width"]:
        """Packed transitions with scaled states and next states."""
        both = 2 * len(self.half)
        states = rows[:, :both].reshape(len(rows), 2, -1)
        return jnp.concatenate([self(states).reshape(len(rows), both), rows[:, both:]], axis=1)

    def folded(self, params: Float[Array, " p"], learner: Learner) -> Float[Array, " p"]:
        """The parameters of the same networks as functions of states that are not scaled."""

        def fold(layer: FirstLayer) -> FirstLayer:
            weight = layer[0] / self.half[:, None]
            return weight, layer[1] - self._shift(weight)

        return learner.with_first_layers(params, fold)

    def unfolded(self, params: Float[Array, " p"], learner: Learner) -> Float[Array, " p"]:
        """The inverse of `folded`."""

        def unfold(layer: FirstLayer) -> FirstLayer:
            weight, bias = layer
            return weight * self.half[:, None], bias + self._shift(weight)

        return learner.with_first_layers(params, unfold)

    def _shift(self, weight: Float[Array, "n h"]) -> Float[Array, " h"]:
        return jnp.dot(self.centre, weight, precision=jax.lax.Precision.HIGHEST)
