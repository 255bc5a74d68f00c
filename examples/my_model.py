"""A custom model: for each action a linear function of the state, fitted to stored transitions."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.models import Model, Outcome, Transition
from freqdyna.envs import Action, Space

Weights = Float[Array, "actions inputs outputs"]


class LinearModel(Model[Weights]):
    """Predicts s' − s, the reward and termination; for discrete actions."""

    learn_batch = 32  # stored transitions for each call of `learn`
    step_size: float = 0.1
    space: Space | None = None  # not a setting: known once the environment is

    def bind(self, space: Space) -> "LinearModel":
        """The model of this environment."""
        return replace(self, space=space)

    def init(self, key: PRNGKeyArray) -> Weights:
        """The state of the model before training: one matrix per action."""
        assert self.space is not None
        n = self.space.observation_size
        return jnp.zeros((self.space.num_actions, n + 1, n + 2))

    def query(self, state: Weights, s: Array, action: Action, noise: Array) -> Outcome:
        """The predicted next state, which is kept inside the space, reward and terminal flag."""
        assert self.space is not None
        outputs = self.predict(state, s, action)
        return self.space.project(s + outputs[:-2]), outputs[-2], outputs[-1] > 0.5

    def learn(self, state: Weights, batch: Transition) -> Weights:
        """One step of gradient descent on the mean squared error."""

        def squared_error(weights: Weights, seen: Transition) -> Array:
            outcome = seen.reward, seen.terminal.astype(float)
            expected = jnp.append(seen.next_state - seen.state, jnp.stack(outcome))
            return jnp.sum((self.predict(weights, seen.state, seen.action) - expected) ** 2)

        def loss(weights: Weights) -> Array:
            return jax.vmap(squared_error, in_axes=(None, 0))(weights, batch).mean()

        return state - self.step_size * jax.grad(loss)(state)

    def predict(self, weights: Weights, s: Array, action: Action) -> Array:
        """The outputs of one action's matrix: s' − s, reward, and close to 1 if terminal."""
        return jnp.append(s, 1.0) @ weights[action]
