"""A `Search` over a plain function, for tests of search-controls without any agent."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.agents.replay import uniform_indices
from freqdyna.frequency import Derivatives, local_frequency_gradient
from freqdyna.search_control.base import Search


def make_search(
    f,
    visited,
    queue=None,
    low=(-2.0, -2.0),
    high=(2.0, 2.0),
    terminal=lambda s: jnp.zeros((), bool),
    covariance=None,
    mean_step=0.0,
):
    visited, low, high = jnp.asarray(visited), jnp.asarray(low), jnp.asarray(high)
    calls = "q", "target_q", "target_value", "policy", "outcome", "disagreement", "draw_transitions"
    without_agent = dict.fromkeys(calls, lambda *_: None) | {
        "discount": 1.0,
        "num_actions": 0,
    }
    without_agent |= dict.fromkeys(("action_low", "action_high"), np.zeros(0))
    n = visited.shape[1]

    def drawn_from(rows):
        return lambda bits: rows[uniform_indices(bits, jnp.asarray(rows.shape[0]))]

    def slopes_of(f):
        return lambda x, *weights: (local_frequency_gradient(f, x, *weights), jax.grad(f)(x))

    return Search(
        value=f,
        derivatives=lambda s: Derivatives.of(f, s),
        slopes=slopes_of(f),
        target_slopes=slopes_of(lambda x: 2 * f(x)),
        draw_visited=drawn_from(visited),
        draw_queue=drawn_from(visited if queue is None else jnp.asarray(queue)),
        queue_is_empty=jnp.asarray(queue is None),
        low=low,
        high=high,
        contains=lambda s: ((s >= low) & (s <= high)).all(),
        project=lambda s: jnp.clip(s, low, high),
        terminal=terminal,
        covariance=jnp.eye(n) if covariance is None else jnp.asarray(covariance),
        mean_step=jnp.asarray(mean_step),
        t=jnp.zeros((), int),
        **without_agent,
    )


def found(proposal):
    """The states that are meant."""
    return jax.device_get(proposal.states)[: int(proposal.count)]


def with_error(search, error):
    """The search with this temporal-difference error at each state, whatever the action."""
    return replace(
        search,
        policy=lambda s, key: jnp.zeros((), int),
        outcome=lambda s, action, key: (s, jnp.ones(()), jnp.zeros((), bool)),
        target_value=lambda s: jnp.full((), 4.0),
        discount=0.5,  # the target is 1 + 0.5 · 4
        q=lambda s, action: 3.0 - error(s),
        num_actions=2,
    )
