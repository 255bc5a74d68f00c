"""Climbs of the temporal-difference error by Langevin dynamics: the idea of Dyna-TD.

Langevin dynamics on h(s) = log |y − Q(s, a)| visits states in proportion to the error, as far as
the target y is the same in the neighbourhood (Pan et al., UAI 2022):

    s ← s + α/2 Σ̂∇h + √α Σ̂^½ X,   X ~ N(0, I)

Compared with that paper: m short climbs instead of a long one, of which only the ends are used;
step size and noise both follow from α; the action is that of planning; the drift is at most as long
as the typical noise.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from parallel_frequency import ParallelClimb

from freqdyna.search_control import Proposal, Search, State
from freqdyna.search_control.climb import cholesky

SMALLEST_ERROR = 1e-3
"""Added to the error, whose logarithm would otherwise be infinitely steep where it is zero."""


class TDClimb(ParallelClimb):
    """The ends of Langevin climbs of log |temporal-difference error|, from visited states."""

    step_size: float = 0.01
    """α, the square of a typical step as a multiple of the spread of the visited states."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers."""
        start_key, climb_key = jax.random.split(key)
        factor = cholesky(search.covariance)
        root = jnp.sqrt(self.step_size)

        def move_one(state: State, key: PRNGKeyArray) -> State:
            policy_key, outcome_key, noise_key = jax.random.split(key, 3)
            action = search.policy(state, policy_key)
            # The target is a constant in ∇h, so that no model needs to be differentiable.
            target = search.td_error(state, outcome_key, action) + search.q(state, action)

            def height(s: State) -> Float[Array, ""]:
                return jnp.log(jnp.abs(target - search.q(s, action)) + SMALLEST_ERROR)

            # √α/2 Σ̂^½∇h: the drift in units of the noise, and no longer than it.
            drift = root / 2 * factor.T @ jax.grad(height)(state)
            length = jnp.sqrt((drift**2).sum())
            drift = jnp.where(jnp.isfinite(length), drift / jnp.maximum(length, 1.0), 0.0)
            return state + root * factor @ (drift + jax.random.normal(noise_key, state.shape))

        def move(states: Float[Array, "m n"], key: PRNGKeyArray) -> Float[Array, "m n"]:
            return jax.vmap(move_one)(states, jax.random.split(key, self.states))

        return self.climb(search, move, search.visited(start_key, self.states), climb_key)
