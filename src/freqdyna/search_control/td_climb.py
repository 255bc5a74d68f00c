"""Dyna-TD: climb the logarithm of the temporal-difference error (Pan et al., UAI 2022).

Langevin dynamics on h(s) = log |y − Q(s, a)| visits states in proportion to the error, as far as
the target y is the same in the neighbourhood:

    s ← s + α/2 Σ̂∇h + √α Σ̂^½ X,   X ~ N(0, I)

The target is a constant in ∇h, so that no model needs to be differentiable.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.core import unrolled
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.hill_climb import cholesky, preconditioner
from freqdyna.search_control.parallel_climb import Climbers, ParallelClimb

SMALLEST_ERROR = 1e-3
"""Added to the error, whose logarithm would otherwise be infinitely steep where it is zero."""


@register("td-climb")
class TDClimbSearch(SearchControl):
    """The ends of Langevin climbs of log |temporal-difference error|, side by side (Dyna-TD)."""

    climb: ParallelClimb
    step_size: float
    """α, the square of a typical step as a multiple of the spread of the visited states."""
    preconditioner: str = eqx.field(static=True)

    @classmethod
    def from_config(cls, config: Config) -> "TDClimbSearch":
        """Create the strategy with the settings of a run."""
        return cls(
            ParallelClimb.from_config(config), config.climb_step_size, config.climb_preconditioner
        )

    def init(self, space: Space, key: PRNGKeyArray) -> Climbers | None:
        """The climbers, if they are persistent; see `SearchControl.init`."""
        return self.climb.init(space)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers from visited states; see `SearchControl.propose`."""
        start_key, climb_key = jax.random.split(key)
        factor = cholesky(preconditioner(search, self.preconditioner))
        root = jnp.sqrt(self.step_size)

        def move(
            state: State, rule: Int[Array, ""], key: PRNGKeyArray
        ) -> tuple[State, Bool[Array, ""]]:
            policy_key, outcome_key, noise_key = jax.random.split(key, 3)
            action = search.policy(state, policy_key)
            error = search.td_error(state, outcome_key, action)
            target = error + search.q(state, action)

            def height(s: State) -> Float[Array, ""]:
                return jnp.log(jnp.abs(target - search.q(s, action)) + SMALLEST_ERROR)

            # √α/2 Σ̂^½∇h: the drift in units of the noise, and no longer than it.
            drift = root / 2 * factor.T @ jax.grad(height)(state)
            length = unrolled.norm(drift)
            vanished = ~(jnp.isfinite(length) & (length > 0))
            drift = jnp.where(vanished, 0.0, drift / jnp.maximum(length, 1.0))
            noise = jax.random.normal(noise_key, state.shape)
            return state + root * factor @ (drift + noise), vanished

        starts = search.visited(start_key, self.climb.climbers)
        return self.climb(search, move, starts, jnp.zeros(len(starts), int), climb_key)
