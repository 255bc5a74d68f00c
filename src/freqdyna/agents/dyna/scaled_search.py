"""Searching in scaled coordinates: the view of a search-control, and what it proposes."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray, UInt32

from freqdyna.agents.dyna.observation_scale import ObservationScale
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.core import unrolled
from freqdyna.envs.space import Action, State
from freqdyna.envs.transition import Outcome, Transition
from freqdyna.search_control.base import Proposal, Search


def scaled_search(
    search: Search, scale: ObservationScale, value: StateValue, target_value: StateValue
) -> Search:
    """The same view with scaled states everywhere.

    Args:
        search: The view whose states are not scaled, except for `mean_step`, which is.
        scale: The scale.
        value: V as a function of scaled states.
        target_value: The same for the target network.

    """
    low, high = scale(search.low), scale(search.high)
    raw = scale.inverse

    def contains(x: State) -> Bool[Array, ""]:
        # The bounds are compared in scaled coordinates, because rounding may cross them.
        inside = unrolled.every((x >= low) & (x <= high))
        return inside & search.contains(jnp.clip(raw(x), search.low, search.high))

    # The names of arguments are those of `search_view`: they may be passed by name.
    def outcome(s: State, action: Action, key: PRNGKeyArray) -> Outcome:
        next_state, reward, terminal = search.outcome(raw(s), action, key)
        return scale(next_state), reward, terminal

    def draw_transitions(bits: UInt32[Array, " k"]) -> Transition:
        drawn = search.draw_transitions(bits)
        scaled = scale(drawn.state), scale(drawn.next_state)
        return eqx.tree_at(lambda seen: (seen.state, seen.next_state), drawn, scaled)

    return replace(
        search,
        value=value,
        derivatives=value.derivatives,
        slopes=value.slopes,
        target_slopes=target_value.slopes,
        draw_visited=lambda bits: scale(search.draw_visited(bits)),
        draw_queue=lambda bits: scale(search.draw_queue(bits)),
        low=low,
        high=high,
        contains=contains,
        project=lambda x: jnp.clip(scale(search.project(raw(x))), low, high),
        on_manifold=lambda x: scale(search.on_manifold(raw(x))),
        terminal=lambda x: search.terminal(raw(x)),
        covariance=search.covariance / jnp.outer(scale.half, scale.half),
        q=lambda s, action=None: search.q(raw(s), action),
        target_q=lambda s, action=None: search.target_q(raw(s), action),
        target_value=lambda s: search.target_value(raw(s)),
        policy=lambda s, key: search.policy(raw(s), key),
        outcome=outcome,
        disagreement=lambda s, action: search.disagreement(raw(s), action),
        draw_transitions=draw_transitions,
    )


def raw_proposal(proposal: Proposal, scale: ObservationScale) -> Proposal:
    """A proposal of scaled states, with the states themselves."""
    path = proposal.path
    if path is not None:
        path = replace(path, states=scale.inverse(path.states))
    return replace(proposal, states=scale.inverse(proposal.states), path=path)
