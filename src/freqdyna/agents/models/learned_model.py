"""The model learned online: a 64×64 ReLU network that predicts s' − s (the paper's A.6).

It also predicts the reward and whether s' is terminal, which the paper does not mention. The next
state is projected onto the state space. Discrete actions are one-hot encoded, continuous actions
are scaled to ±1.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.agents.networks.mlp import init_xavier, network_from_flat
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Action, Space
from freqdyna.envs.transition import Transition

WIDTH = 64


class LearnedModelState(eqx.Module):
    """Parameters as one flat vector, and Adam's state."""

    params: Float[Array, " p"]
    optimizer: optax.OptState


class LearnedModel(Model[LearnedModelState]):
    """A deterministic model, which predicts the mean outcome."""

    learn_batch: ClassVar[int] = 128
    space: Space
    learning_rate: float
    terminal_is_known: bool = eqx.field(static=True)
    """Whether to use `space.terminal` instead of predicting termination."""

    @classmethod
    def from_config(cls, config: Config, space: Space) -> "LearnedModel":
        """The model with the settings of a run; see `Model.from_config`."""
        known = config.model_termination == "known"
        if known and not space.knows_terminal:
            raise FreqdynaError(
                f"model_termination is 'known', but {space.name!r} does not know which states are "
                "terminal; it must be 'learned'"
            )
        return cls(space, config.model_learning_rate, known)

    def init(self, key: PRNGKeyArray) -> LearnedModelState:
        """The network and Adam's state before training."""
        params = ravel_pytree(init_xavier(key, self._sizes, jax.nn.relu))[0]
        return LearnedModelState(params, optax.adam(self.learning_rate).init(params))

    def query(
        self,
        state: LearnedModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " 0"],
    ) -> Outcome:
        """The predicted outcome; see `Model.query`."""
        change, reward, logit = self._predict(state.params, s, action)
        next_state = self.space.project(s + change)
        terminal = self.space.terminal(next_state) if self.terminal_is_known else logit > 0
        return next_state, reward, terminal

    def learn(self, state: LearnedModelState, batch: Transition) -> LearnedModelState:
        """One Adam step on the squared errors of s' − s and r, and the cross-entropy of terminal.

        See `Model.learn`.
        """

        def loss_of_one(params: Float[Array, " p"], seen: Transition) -> Float[Array, ""]:
            change, reward, logit = self._predict(params, seen.state, seen.action)
            errors = jnp.sum((seen.next_state - seen.state - change) ** 2)
            errors += (seen.reward - reward) ** 2
            return errors + optax.sigmoid_binary_cross_entropy(logit, seen.terminal.astype(float))

        def loss(params: Float[Array, " p"]) -> Float[Array, ""]:
            return jax.vmap(loss_of_one, in_axes=(None, 0))(params, batch).mean()

        gradient = jax.grad(loss)(state.params)
        step, optimizer = optax.adam(self.learning_rate).update(gradient, state.optimizer)
        return LearnedModelState(state.params + step, optimizer)

    @property
    def _sizes(self) -> tuple[int, ...]:
        n, actions = self.space.observation_size, self.space.num_actions
        return n + (actions or self.space.action_size), WIDTH, WIDTH, n + 2

    def _predict(
        self, params: Float[Array, " p"], s: Float[Array, " n"], action: Action
    ) -> tuple[Float[Array, " n"], Float[Array, ""], Float[Array, ""]]:
        network = network_from_flat(params, self._sizes, jax.nn.relu)
        if self.space.num_actions:
            inputs = jax.nn.one_hot(action, self.space.num_actions)
        else:
            low, high = self.space.action_low, self.space.action_high
            inputs = 2 * (action - low) / (high - low) - 1
        outputs = network(jnp.concatenate([s, inputs]))
        n = s.shape[0]
        return outputs[:n], outputs[n], outputs[n + 1]
