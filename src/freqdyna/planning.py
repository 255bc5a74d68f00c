"""The model-based half of the agent: what to simulate, and the simulated transitions of a step."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna import few
from freqdyna.models.base import Model
from freqdyna.replay.transition import Transition
from freqdyna.search_control.base import Draw, SearchControl


class Planning(eqx.Module):
    """Where to plan from, with which model, and how much."""

    search_control: SearchControl
    model: Model[Any]
    simulated: int = eqx.field(static=True)
    """Simulated transitions in a mini-batch (βb)."""
    queue_size: int = eqx.field(static=True)
    exploration: float
    """The share of random actions among those paired with queue states."""


class Simulation(eqx.Module):
    """The states and random numbers of all simulated transitions of a step.

    Everything is drawn before the updates; only the greedy actions wait for the network.
    """

    model: Model[Any]
    model_state: Any
    states: Float[Array, "d k n"]
    """Drawn from the search-control queue: k for each of the d updates."""
    explores: Bool[Array, "d k"]
    random_actions: Int[Array, "d k"]
    noise: Float[Array, "d k z"]

    @staticmethod
    def draw(
        planning: Planning,
        model_state: Any,
        draw_queue: Draw,
        actions: int,
        updates: int,
        key: PRNGKeyArray,
    ) -> "Simulation":
        """The draws for `updates` mini-batches."""
        shape = updates, planning.simulated
        state_key, explore_key, action_key, noise_key = jax.random.split(key, 4)
        drawn = draw_queue(jax.random.bits(state_key, (updates * planning.simulated,), jnp.uint32))
        return Simulation(
            model=planning.model,
            model_state=model_state,
            states=drawn.reshape(*shape, -1),
            explores=jax.random.uniform(explore_key, shape) < planning.exploration,
            random_actions=jax.random.randint(action_key, shape, 0, actions),
            noise=jax.random.normal(noise_key, (*shape, planning.model.noise_size)),
        )

    def transitions(
        self, i: Int[Array, ""], values: Float[Array, "k actions"]
    ) -> Float[Array, "k width"]:
        """Those of update i, packed: ε-greedy by the current action values of their states."""

        def transition(
            s: Float[Array, " n"],
            explore: Bool[Array, ""],
            random_action: Int[Array, ""],
            noise: Float[Array, " z"],
            value: Float[Array, " actions"],
        ) -> Float[Array, " width"]:
            action = jnp.where(explore, random_action, few.argmax(value))
            next_state, reward, terminal = self.model.query(self.model_state, s, action, noise)
            return Transition(s, action, reward, next_state, terminal).pack()

        return jax.vmap(transition)(
            self.states[i], self.explores[i], self.random_actions[i], self.noise[i], values
        )
