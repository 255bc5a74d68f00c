"""Models that are learned online, and the paper's: one network.

A ReLU network predicts s' − s, 64×64 in the paper (A.6), and also the reward and whether s' is
terminal, which the paper does not mention. Discrete actions are one-hot encoded, continuous
actions are scaled to ±1. With `scale_observations`, the network's s and s' − s are scaled as well.
"""

from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.agents.models.base import Model, ModelState, Outcome
from freqdyna.agents.networks import init_xavier, network_from_flat
from freqdyna.config import NotNegative, Widths
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Action, Space, Transition


class OnlineModel(Model[ModelState]):
    """A model that learns, and what the environment tells it beforehand: nothing, by default."""

    termination: Literal["learned", "known"] = eqx.field(static=True, default="learned")
    """Whether it is "learned" which states are terminal, or "known" from the environment."""
    state_space: Literal["visited", "known"] = eqx.field(static=True, default="visited")
    """Where searches may look: in the range of the "visited" states, or in the whole state space,
    whose bounds and walls are "known" from the environment."""
    space: Space | None = None
    """The spaces of states and actions, see `bind`."""

    def bind(self, space: Space) -> "OnlineModel[ModelState]":
        """The model of an environment; see `Model.bind`."""
        if self.termination == "known" and not space.knows_terminal:
            raise FreqdynaError(
                f"model.termination is 'known', but {space.name!r} does not know which states are "
                "terminal; it must be 'learned'"
            )
        return replace(self, space=space)

    @property
    def knows_state_space(self) -> bool:
        """Whether the setting `state_space` says so; see `Model.knows_state_space`."""
        return self.state_space == "known"

    @property
    def knows_termination(self) -> bool:
        """Whether the setting `termination` says so; see `Model.knows_termination`."""
        return self.termination == "known"

    @property
    def bound_space(self) -> Space:
        """The space that `bind` was called with."""
        assert self.space is not None, "the model is not bound to an environment"
        return self.space

    def layers(self, hidden: tuple[int, ...]) -> tuple[int, ...]:
        """Widths of a network from state and action to change, reward and logit of the end."""
        n, actions = self.bound_space.observation_size, self.bound_space.num_actions
        return n + (actions or self.bound_space.action_size), *hidden, n + 2

    def action_inputs(self, action: Action) -> Float[Array, " k"]:
        """An action as a network sees it: one-hot, or scaled to ±1."""
        if self.bound_space.num_actions:
            return jax.nn.one_hot(action, self.bound_space.num_actions)
        return self.bound_space.scaled_action(action)

    def outcome_of(
        self,
        s: Float[Array, " n"],
        change: Float[Array, " n"],
        reward: Float[Array, ""],
        end: Bool[Array, ""] | Float[Array, ""],
    ) -> Outcome:
        """The outcome of a predicted change, inside what is known of the state space."""
        if self.state_space == "known":
            next_state = self.bound_space.project(s + change)
        else:
            next_state = jnp.clip(s + change, self.bound_space.low, self.bound_space.high)
        known = self.termination == "known"
        return next_state, reward, self.bound_space.terminal(next_state) if known else end


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


class Learned(OnlineModel[LearnedModelState]):
    """A network that learns to predict the mean outcome."""

    learn_batch: ClassVar[int] = 128
    learning_rate: NotNegative = 1e-4
    """The learning rate of Adam."""
    hidden: Widths = eqx.field(static=True, default=(64, 64))
    """Widths of the ReLU layers."""
    scale: tuple[Float[Array, " n"], Float[Array, " n"]] | None = None
    """Centre and half range of the network's states, see `Model.with_scale`; None for states as
    they are."""

    def with_scale(self, centre: Float[Array, " n"], half: Float[Array, " n"]) -> "Learned":
        """The model whose network sees scaled states; see `Model.with_scale`."""
        scale = centre, half
        return eqx.tree_at(lambda m: m.scale, self, scale, is_leaf=lambda part: part is None)

    def init(self, key: PRNGKeyArray) -> LearnedModelState:
        """The network and Adam's state before training."""
        params = ravel_pytree(init_xavier(key, self.layers(self.hidden), jax.nn.relu))[0]
        return LearnedModelState(params, optax.adam(self.learning_rate).init(params))

    def query(
        self,
        state: LearnedModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " 0"],
    ) -> Outcome:
        """The predicted outcome; see `Model.query`."""
        change, reward, logit = self.predict(state.params, s, action)
        return self.outcome_of(s, change, reward, logit > 0)

    def learn(
        self,
        state: LearnedModelState,
        batch: Transition,
    ) -> LearnedModelState:
        """One Adam step on the squared errors of s' − s and r, and the cross-entropy of the end."""

        def loss_of_one(params: Float[Array, " p"], seen: Transition) -> Float[Array, ""]:
            change, reward, logit = self.predict(params, seen.state, seen.action)
            missed = seen.next_state - seen.state - change
            errors = jnp.sum((missed if self.scale is None else missed / self.scale[1]) ** 2)
            errors += (seen.reward - reward) ** 2
            return errors + optax.sigmoid_binary_cross_entropy(logit, seen.terminal.astype(float))

        def loss(params: Float[Array, " p"]) -> Float[Array, ""]:
            losses = jax.vmap(loss_of_one, in_axes=(None, 0))(params, batch)
            return losses.mean()

        gradient = jax.grad(loss)(state.params)
        step, optimizer = optax.adam(self.learning_rate).update(gradient, state.optimizer)
        return LearnedModelState(state.params + step, optimizer)

    def predict(
        self, params: Float[Array, " p"], s: Float[Array, " n"], action: Action
    ) -> Prediction:
        """The outputs of the network."""
        network = network_from_flat(params, self.layers(self.hidden), jax.nn.relu)
        inputs = self.action_inputs(action)
        x = s if self.scale is None else (s - self.scale[0]) / self.scale[1]
        outputs = network(jnp.concatenate([x, inputs]))
        n = s.shape[0]
        change = outputs[:n] if self.scale is None else self.scale[1] * outputs[:n]
        return Prediction(change, outputs[n], outputs[n + 1])
