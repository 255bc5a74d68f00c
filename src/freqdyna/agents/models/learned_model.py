"""The model learned online: a ReLU network that predicts s' − s, 64×64 in the paper (A.6).

It also predicts the reward and whether s' is terminal, which the paper does not mention. The next
state is projected onto the state space. Discrete actions are one-hot encoded, continuous actions
are scaled to ±1. With `scale_observations`, the network's s and s' − s are scaled as well.
"""

from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.agents.networks.mlp import init_xavier, network_from_flat
from freqdyna.config import NotNegative, Widths
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Action, Space
from freqdyna.envs.transition import Transition


class Prediction(NamedTuple):
    """The outputs of the network at a state and an action."""

    change: Float[Array, " n"]
    """s' − s."""
    reward: Float[Array, ""]
    logit: Float[Array, ""]
    """Positive if s' is more likely to be terminal than not."""


class LearnedModelState(eqx.Module):
    """Parameters as one flat vector, and Adam's state."""

    params: Float[Array, " p"]
    optimizer: optax.OptState


class Learned(Model[LearnedModelState]):
    """A network that learns to predict the mean outcome."""

    learn_batch: ClassVar[int] = 128
    termination: Literal["known", "learned"] | None = eqx.field(static=True, default=None)
    """Whether the environment says which states are terminal ("known"), or that is "learned", too.
    If unset: known for built-in environments, learned for those of Gymnasium."""
    learning_rate: NotNegative = 1e-4
    """The learning rate of Adam."""
    hidden: Widths = eqx.field(static=True, default=(64, 64))
    """Widths of the ReLU layers."""
    space: Space | None = None
    """The spaces of states and actions, see `bind`."""
    scale: tuple[Float[Array, " n"], Float[Array, " n"]] | None = None
    """Centre and half range of the network's states, see `Model.with_scale`; None for states as
    they are."""

    def bind(self, space: Space) -> "Learned":
        """The model of an environment; see `Model.bind`."""
        if self.termination == "known" and not space.knows_terminal:
            raise FreqdynaError(
                f"model.termination is 'known', but {space.name!r} does not know which states are "
                "terminal; it must be 'learned'"
            )
        usual: Literal["known", "learned"] = "known" if space.knows_terminal else "learned"
        return replace(self, space=space, termination=self.termination or usual)

    def with_scale(self, centre: Float[Array, " n"], half: Float[Array, " n"]) -> "Learned":
        """The model whose network sees scaled states; see `Model.with_scale`."""
        scale = centre, half
        return eqx.tree_at(lambda m: m.scale, self, scale, is_leaf=lambda part: part is None)

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
        return self.outcome_at(s, self.predict(state.params, s, action))

    def learn(
        self,
        state: LearnedModelState,
        batch: Transition,
        weights: Float[Array, " batch"] | None = None,
    ) -> LearnedModelState:
        """One Adam step on the squared errors of s' − s and r, and the cross-entropy of terminal.

        Args:
            state: The parameters and Adam's state.
            batch: The transitions; see `Model.learn`.
            weights: The weight of each transition, shape (batch,); None for equal weights.

        """

        def loss_of_one(params: Float[Array, " p"], seen: Transition) -> Float[Array, ""]:
            change, reward, logit = self.predict(params, seen.state, seen.action)
            missed = seen.next_state - seen.state - change
            errors = jnp.sum((missed if self.scale is None else missed / self.scale[1]) ** 2)
            errors += (seen.reward - reward) ** 2
            return errors + optax.sigmoid_binary_cross_entropy(logit, seen.terminal.astype(float))

        def loss(params: Float[Array, " p"]) -> Float[Array, ""]:
            losses = jax.vmap(loss_of_one, in_axes=(None, 0))(params, batch)
            return losses.mean() if weights is None else (weights * losses).mean()

        gradient = jax.grad(loss)(state.params)
        step, optimizer = optax.adam(self.learning_rate).update(gradient, state.optimizer)
        return LearnedModelState(state.params + step, optimizer)

    @property
    def _space(self) -> Space:
        assert self.space is not None, "the model is not bound to an environment"
        return self.space

    @property
    def _sizes(self) -> tuple[int, ...]:
        n, actions = self._space.observation_size, self._space.num_actions
        return n + (actions or self._space.action_size), *self.hidden, n + 2

    def predict(
        self, params: Float[Array, " p"], s: Float[Array, " n"], action: Action
    ) -> Prediction:
        """The outputs of the network.

        Args:
            params: The flat parameter vector, shape (p,).
            s: The state of the environment, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.

        """
        network = network_from_flat(params, self._sizes, jax.nn.relu)
        if self._space.num_actions:
            inputs = jax.nn.one_hot(action, self._space.num_actions)
        else:
            low, high = self._space.action_low, self._space.action_high
            inputs = 2 * (action - low) / (high - low) - 1
        x = s if self.scale is None else (s - self.scale[0]) / self.scale[1]
        outputs = network(jnp.concatenate([x, inputs]))
        n = s.shape[0]
        change = outputs[:n] if self.scale is None else self.scale[1] * outputs[:n]
        return Prediction(change, outputs[n], outputs[n + 1])

    def outcome_at(self, s: Float[Array, " n"], prediction: Prediction) -> Outcome:
        """The outcome that a prediction at state `s` stands for."""
        next_state = self._space.project(s + prediction.change)
        if self.termination == "known":
            return next_state, prediction.reward, self._space.terminal(next_state)
        return next_state, prediction.reward, prediction.logit > 0
