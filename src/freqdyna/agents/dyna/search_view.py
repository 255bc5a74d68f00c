"""What a search-control can use: a view of the agent."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from freqdyna.agents.dyna.state import DynaState
from freqdyna.agents.learners.base import Learner
from freqdyna.core import unrolled
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Draw, Search


def search_view(
    env: Space, learner: Learner, state: DynaState, draw_visited: Draw, draw_queue: Draw
) -> Search:
    """The value function, the state space and the buffers of one seed at one time step.

    Args:
        env: The state space.
        learner: The learner, whose value is climbed.
        state: The state of the seed.
        draw_visited: Samples states from the replay buffer.
        draw_queue: Samples states from the queue.

    """
    queue, visited = state.queue, state.visited
    assert queue is not None
    assert visited is not None
    value = learner.value(state.learner.params)
    target_value = learner.value(state.learner.target_params)
    low, high = jnp.asarray(env.low), jnp.asarray(env.high)
    if not env.is_bounded:
        # If the space has no bounds, use those of the visited states.
        low = jnp.where(jnp.isfinite(low), low, visited.low)
        high = jnp.where(jnp.isfinite(high), high, visited.high)

    def contains(s: Float[Array, " n"]) -> Bool[Array, ""]:
        inside = env.contains(s)
        return inside if env.is_bounded else inside & unrolled.every((s >= low) & (s <= high))

    def project(s: Float[Array, " n"]) -> Float[Array, " n"]:
        return env.project(s if env.is_bounded else jnp.clip(s, low, high))

    return Search(
        value=value,
        derivatives=value.derivatives,
        slopes=value.slopes,
        target_slopes=target_value.slopes,
        draw_visited=draw_visited,
        draw_queue=draw_queue,
        queue_is_empty=queue.is_empty(),
        low=low,
        high=high,
        contains=contains,
        project=project,
        on_manifold=env.on_manifold,
        terminal=env.terminal,
        covariance=visited.covariance(),
        mean_step=visited.mean_step,
    )
