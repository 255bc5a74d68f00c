"""A custom search-control with memory: climbers that live on from step to step."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.envs import Space
from freqdyna.search_control import Proposal, Search, SearchControl, State


class Particles(SearchControl):
    """The positions of climbers of V, each of which takes one noisy step at a time."""

    particles: int = 20
    step_size: float = 0.1
    noise: float = 0.1

    def init(self, space: Space, key: PRNGKeyArray) -> Float[Array, "particles n"]:
        """No position yet: a climber that is nowhere starts from a visited state."""
        return jnp.full((self.particles, space.observation_size), jnp.nan)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move every climber uphill; one that leaves the state space or ends starts again."""
        start_key, noise_key = jax.random.split(key)
        starts = search.visited(start_key, self.particles)
        scale = jnp.sqrt(jnp.diag(search.covariance))

        def moved(position: State, normal: State) -> State:
            uphill = scale * search.derivatives(position).gradient
            uphill = uphill / (jnp.linalg.norm(uphill) + 1e-12)
            return position + scale * (self.step_size * uphill + self.noise * normal)

        def is_usable(position: State) -> jax.Array:
            return search.contains(position) & ~search.terminal(position)

        normals = jax.random.normal(noise_key, starts.shape)
        positions = jax.vmap(moved)(search.memory, normals)
        positions = jnp.where(jax.vmap(is_usable)(positions)[:, None], positions, starts)
        return Proposal.of(positions, memory=positions)

    def snapshot(self, memory: Float[Array, "particles n"]) -> dict[str, Array]:
        """Record the positions."""
        return {"particles": memory}
