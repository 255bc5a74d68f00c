"""An ensemble of learned models, which knows where it is uncertain.

The members are networks like that of the learned model, computed as one batched network. They
differ in their initial parameters and in their data: each member has its own bootstrap sample, in
which a stored transition occurs k times, where k is a Poisson number with mean 1. That number is
determined by a hash of the transition and the member, so that a member that lacks a transition
never sees it, and nothing has to be stored.
"""

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from freqdyna.agents.models.base import Outcome, known_ranges
from freqdyna.agents.models.learned_model import Learned, LearnedModelState, Prediction
from freqdyna.config import integer
from freqdyna.envs.space import Action
from freqdyna.envs.transition import Transition

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
    """How often each transition occurs in the bootstrap sample of each member.

    Args:
        rows: Packed transitions, shape (batch, width).
        members: The number of members.

    Returns:
        Poisson numbers with mean 1, shape (members, batch), which depend only on the transition and
        the member.

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
