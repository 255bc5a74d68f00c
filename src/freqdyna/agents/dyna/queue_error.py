"""The error of a learned model where the agent plans: at the states of the search-control queue."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from freqdyna.agents.dyna.queue import Queue
from freqdyna.agents.models.base import Model
from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action, State
from freqdyna.envs.transition import Transition

STATES = 256
"""The number of states at which the error is measured, evenly spaced in the queue."""


def model_error_at_queue(
    model: Model[Any],
    model_state: Any,
    queue: Queue,
    env: Environment,
    act: Callable[[State], Action],
) -> Float[Array, ""]:
    """The root mean squared error of the model's next states, as in the metric `model_error`.

    Predictions are compared with the environment's own dynamics without noise. Nothing is random,
    so measuring it changes no other number.

    Args:
        model: The model, as the agent uses it.
        model_state: Its state.
        queue: The search-control queue.
        env: The environment.
        act: The action in a state whose action the queue does not store.

    Returns:
        Shape (); NaN while the queue is empty.

    """
    count = jnp.minimum(queue.count, queue.rows.shape[0])
    i = jnp.arange(STATES)
    places = i * (count // STATES) + i * (count % STATES) // STATES  # ⌊i · count / STATES⌋

    def squared_error(place: Array) -> Float[Array, ""]:
        state = queue.rows[place]
        action = act(state) if queue.actions is None else queue.actions[place]
        outcome = env.transition_from_noise(state, action, jnp.zeros(1 + env.noise_size))
        next_state, reward, terminal = outcome
        seen = Transition(state, action, reward, next_state, terminal)
        return model.error(model_state, seen, env)

    error = jnp.sqrt(jax.vmap(squared_error)(places).mean())
    return jnp.where(queue.is_empty(), jnp.nan, error)
