"""The models that are learned online: one network, or an ensemble that knows where it is uncertain.

A ReLU network predicts s' − s, 64×64 in the paper (A.6), and also the reward and whether s' is
terminal, which the paper does not mention. The next state is projected onto the state space.
Discrete actions are one-hot encoded, continuous actions are scaled to ±1. With
`scale_observations`, the network's s and s' − s are scaled as well.

The members of an ensemble are such networks, computed as one batched network. They differ in their
initial parameters and in their data: each member has its own bootstrap sample, in which a stored
transition occurs k times, where k is a Poisson number with mean 1. That number is determined by a
hash of the transition and the member, so that a member that lacks a transition never sees it, and
nothing has to be stored.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import ndtr
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from freqdyna.agents.models.base import Model, Outcome, known_ranges
from freqdyna.agents.networks import init_xavier, network_from_flat
from freqdyna.config import NotNegative, Widths, integer
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Action, Space, Transition


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
        """One Adam step on the squared errors of s' − s and r, and the cross-entropy of the end."""

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
        """The outputs of the network."""
        network = network_from_flat(params, self._sizes, jax.nn.relu)
        if self._space.num_actions:
            inputs = jax.nn.one_hot(action, self._space.num_actions)
        else:
            inputs = self._space.scaled_action(action)
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


# The cumulative distribution function of a Poisson number with mean 1, at 0, 1, ..., 7.
_CUMULATIVE = (0.367879, 0.735759, 0.919699, 0.981012, 0.996340, 0.999406, 0.999917, 0.999990)


class Ensemble(Learned):
    """Several learned models; the outcome is their mean, or that of a random member."""

    size: Annotated[int, integer(2)] = eqx.field(static=True, default=5)
    """The number of members."""
    outcome: Literal["mean", "member"] = eqx.field(static=True, default="mean")
    """Whether a query is answered by the "mean" of all members, or by a random "member"."""

    @property
    def noise_size(self) -> int:
        """One number to choose a member, or none."""
        return int(self.outcome == "member")

    def init(self, key: PRNGKeyArray) -> LearnedModelState:
        """The states of all members; the first axis of every array is the member."""
        return jax.vmap(super().init)(jax.random.split(key, self.size))

    def query(
        self,
        state: LearnedModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """The predicted outcome; see `Model.query`.

        The mean is that of the networks' outputs: of s' − s, the reward and the logit of terminal.
        """
        predictions = self._predictions(state, s, action)
        if self.outcome == "member":
            chosen = (ndtr(noise[0]) * self.size).astype(int)  # uniform, because noise is normal
            prediction = jax.tree.map(lambda of_all: of_all[chosen], predictions)
        else:
            prediction = jax.tree.map(lambda of_all: of_all.mean(0), predictions)
        return self.outcome_at(s, prediction)

    def learn(
        self,
        state: LearnedModelState,
        batch: Transition,
        weights: Float[Array, " batch"] | None = None,
    ) -> LearnedModelState:
        """One Adam step of each member on its bootstrap sample; see `Model.learn`."""
        of_members = bootstrap_weights(jax.vmap(Transition.pack)(batch), self.size)
        return jax.vmap(super().learn, in_axes=(0, None, 0))(state, batch, of_members)

    def disagreement(
        self, state: LearnedModelState, s: Float[Array, " n"], action: Action
    ) -> Float[Array, ""]:
        """The variance of the members' predicted next states, averaged over coordinates.

        It is (1/n) Σᵢ Varⱼ(s'ⱼᵢ) / rangeᵢ², where s'ⱼᵢ is coordinate i of the next state that
        member j predicts, and rangeᵢ is the range of that coordinate, or 1 if it is not known. The
        variance is the mean squared deviation from the members' mean. See `Model.disagreement`.
        """
        predictions = self._predictions(state, s, action)
        next_states = jax.vmap(lambda one: self.outcome_at(s, one)[0])(predictions)
        return jnp.mean(next_states.var(0) / known_ranges(self._space) ** 2)

    def _predictions(
        self, state: LearnedModelState, s: Float[Array, " n"], action: Action
    ) -> Prediction:
        """The outputs of all members; the first axis of every array is the member."""
        return jax.vmap(self.predict, in_axes=(0, None, None))(state.params, s, action)


def bootstrap_weights(
    rows: Float[Array, "batch width"], members: int
) -> Float[Array, "members batch"]:
    """How often each packed transition occurs in the bootstrap sample of each member.

    The Poisson numbers with mean 1 depend only on the transition and the member.
    """
    words = jax.lax.bitcast_convert_type(rows, jnp.uint32)
    hashed = jnp.zeros(len(rows), jnp.uint32)
    for column in range(words.shape[1]):
        hashed = _mixed(hashed * 31 + words[:, column])
    numbers = jnp.arange(1, members + 1, dtype=jnp.uint32)
    bits = _mixed(hashed + numbers[:, None] * jnp.uint32(0x9E3779B9))
    uniform = (bits >> 8) / jnp.float32(2**24)
    return (uniform[..., None] >= jnp.asarray(_CUMULATIVE)).sum(-1).astype(jnp.float32)


def _mixed(words: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """Spread the information of every bit over all bits (the finalizer of MurmurHash3)."""
    words = (words ^ (words >> 16)) * jnp.uint32(0x85EBCA6B)
    words = (words ^ (words >> 13)) * jnp.uint32(0xC2B2AE35)
    return words ^ (words >> 16)
