"""What a search-control can use: a view of the agent."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.dyna.draws import Draws
from freqdyna.agents.dyna.simulation import Planning
from freqdyna.agents.dyna.state import DynaState
from freqdyna.agents.learners.base import Learner
from freqdyna.core import unrolled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Action, Space
from freqdyna.envs.transition import Outcome
from freqdyna.search_control.base import Search


def search_view(
    env: Space,
    learner: Learner,
    planning: Planning,
    state: DynaState,
    t: Int[Array, ""],
    draws: Draws,
) -> Search:
    """The value function, the state space and the buffers of one seed at one time step.

    Args:
        env: The state space.
        learner: The learner, whose value is climbed.
        planning: The model and the exploration of planning.
        state: The state of the seed.
        t: The number of steps taken before, shape ().
        draws: Samples from the buffers.

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

    def q(params: Float[Array, " p"]) -> Callable[..., Array]:
        def of(s: Float[Array, " n"], action: Action | None = None) -> Array:
            if action is not None:
                return learner.action_value(params, s, action)
            if not env.num_actions:
                raise FreqdynaError("q(s) needs discrete actions; use q(s, action)")
            return learner.network(params)(s)

        return of

    def outcome(s: Float[Array, " n"], action: Action, key: PRNGKeyArray) -> Outcome:
        noise = jax.random.normal(key, (planning.model.noise_size,))
        return planning.model.query(state.model, s, action, noise)

    return Search(
        value=value,
        derivatives=value.derivatives,
        slopes=value.slopes,
        target_slopes=target_value.slopes,
        draw_visited=draws.visited,
        draw_queue=draws.queued,
        queue_is_empty=queue.is_empty(),
        low=low,
        high=high,
        contains=contains,
        project=project,
        on_manifold=env.on_manifold,
        terminal=env.terminal,
        covariance=visited.covariance(),
        mean_step=visited.mean_step,
        q=q(state.learner.params),
        target_q=q(state.learner.target_params),
        target_value=lambda s: learner.bootstrap(state.learner, s[None])[0],
        policy=lambda s, key: learner.act(state.learner.params, s, planning.exploration, key),
        outcome=outcome,
        disagreement=lambda s, action: planning.model.disagreement(state.model, s, action),
        draw_transitions=draws.transitions,
        discount=learner.discount,
        num_actions=env.num_actions,
        action_low=env.action_low,
        action_high=env.action_high,
        t=t,
        memory=state.memory,
    )
