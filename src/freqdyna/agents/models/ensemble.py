"""The ensemble: networks that predict outcomes in units of the run, and where they are uncertain.

Each member is a SiLU network from s and a to s' − s, the reward and termination. States and rewards
are divided by their running deviations, so that units do not matter: an environment whose
observations or rewards are multiplied by a number is learned alike. Output layers begin with zero:
before it has learned, nothing moves, and reward and termination are the mean of the data.

Changes are divided by their mean size, and have the Huber loss: a rare jump, such as a clock at
midnight, would otherwise set the scale and spoil the predictions of all other steps. On such a
coordinate the error of ordinary steps fell from 4 times the change to a tenth of it.

Terminations are rare, so they have a greater weight in the loss, which is corrected when their
probability is predicted. It enters targets as γ(1 − p).

Members differ in their initial parameters and in their data: each member has its own bootstrap
sample, in which a stored transition occurs k times, where k is a Poisson number with mean 1. That
number is determined by a hash of the transition and the member, so that a member that lacks a
transition never sees it, and nothing has to be stored.
"""

from functools import partial
from typing import Annotated, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from freqdyna.agents.models.base import Outcome, Outcomes
from freqdyna.agents.models.learned import OnlineModel
from freqdyna.agents.networks import Network, init_xavier, network_from_flat
from freqdyna.config import NotNegative, Widths, integer
from freqdyna.envs.space import Action, Transition

SLOWEST = 1e-3
"""The least share of a mini-batch in the running moments."""
RAREST, OFTEN, GREATEST_WEIGHT = 1e-5, 0.1, 100.0
"""Terminations count as at least so frequent; their weight makes them as frequent as `OFTEN`, if it
is not above the last number."""


class Moments(eqx.Module):
    """Running means and variances of s, |s' − s|, the reward and whether s' is terminal."""

    batches: Float[Array, ""]
    mean: Float[Array, " width"]
    variance: Float[Array, " width"]

    @staticmethod
    def of_size(n: int) -> "Moments":
        """The moments before the first mini-batch, for states of n coordinates."""
        return Moments(jnp.zeros(()), jnp.zeros(2 * n + 2), jnp.zeros(2 * n + 2))

    def add(self, rows: Float[Array, "batch width"]) -> "Moments":
        """The moments of a mixture of what was seen before and a mini-batch."""
        batches = self.batches + 1
        share = jnp.maximum(1 / batches, SLOWEST)
        moved = rows.mean(0) - self.mean
        variance = (1 - share) * (self.variance + share * moved**2) + share * rows.var(0)
        return Moments(batches, self.mean + share * moved, variance)

    def scales(self) -> "Scales":
        """What the networks subtract, divide by and multiply with."""
        n = len(self.mean) // 2 - 1
        deviation = jnp.sqrt(self.variance)
        size = jnp.sqrt(self.variance[2 * n] + self.mean[2 * n] ** 2)
        reward = jnp.maximum(deviation[2 * n], 0.1 * size)
        ends = jnp.clip(self.mean[-1], RAREST, 1 - RAREST)
        return Scales(
            state=(self.mean[:n], _or_one(deviation[:n])),
            change=_or_one(self.mean[n : 2 * n]),
            reward=(self.mean[2 * n], _or_one(reward)),
            logit=jnp.log(ends / (1 - ends)),
            weight=jnp.clip(OFTEN / ends, 1.0, GREATEST_WEIGHT),
        )


class Scales(NamedTuple):
    """The units of a run."""

    state: tuple[Float[Array, " n"], Float[Array, " n"]]
    change: Float[Array, " n"]
    reward: tuple[Float[Array, ""], Float[Array, ""]]
    logit: Float[Array, ""]
    """The logit of the share of terminations."""
    weight: Float[Array, ""]
    """The weight of a termination in the loss."""


def _or_one(deviation: Float[Array, "*k"]) -> Float[Array, "*k"]:
    """The deviation, or 1 for something that never changed."""
    return jnp.where(deviation > 0, deviation, 1.0)


class Predictions(NamedTuple):
    """What all members predict; the first axis of every array is the member."""

    change: Float[Array, "members n"]
    reward: Float[Array, " members"]
    end: Float[Array, " members"]
    """The probability that s' is terminal."""


class EnsembleState(eqx.Module):
    """The parameters of all members, Adam's state, and the units of the run."""

    params: Float[Array, "members p"]
    optimizer: optax.OptState
    moments: Moments


class Ensemble(OnlineModel[EnsembleState]):
    """Several networks; the outcome is their mean."""

    learn_batch: ClassVar[int] = 128
    size: Annotated[int, integer(2)] = eqx.field(static=True, default=5)
    """The number of members."""
    learning_rate: NotNegative = 1e-3
    """The learning rate of Adam."""
    hidden: Widths = eqx.field(static=True, default=(64, 64))
    """Widths of the SiLU layers."""

    def init(self, key: PRNGKeyArray) -> EnsembleState:
        """Networks whose outputs are zero, and no moments yet."""

        def params(key: PRNGKeyArray) -> Float[Array, " p"]:
            network = init_xavier(key, self._sizes, jax.nn.silu)
            last = jnp.zeros_like(network.weights[-1])
            return ravel_pytree(eqx.tree_at(lambda net: net.weights[-1], network, last))[0]

        members = jax.vmap(params)(jax.random.split(key, self.size))
        moments = Moments.of_size(self.bound_space.observation_size)
        return EnsembleState(members, optax.adam(self.learning_rate).init(members), moments)

    def query(
        self,
        state: EnsembleState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " 0"],
    ) -> Outcome:
        """The predicted outcome, with the probability of the end; see `Model.query`."""
        predictions = self.predictions(state, s, action)
        return self.outcome_of(s, *jax.tree.map(lambda of_all: of_all.mean(0), predictions))

    def two_outcomes(
        self, state: EnsembleState, s: Float[Array, " n"], action: Action, key: PRNGKeyArray
    ) -> Outcomes:
        """The answers of two different members; see `Model.two_outcomes`."""
        first = jax.random.randint(key, (), 0, self.size)
        second = first + jax.random.randint(jax.random.fold_in(key, 1), (), 1, self.size)
        chosen = jnp.stack([first, second % self.size])
        predictions = self.predictions(state, s, action)
        two = jax.tree.map(lambda of_all: of_all[chosen], predictions)
        return jax.vmap(partial(self.outcome_of, s))(*two)

    def learn(self, state: EnsembleState, batch: Transition) -> EnsembleState:
        """One Adam step of each member on its bootstrap sample; see `Model.learn`."""
        change, ends = batch.next_state - batch.state, batch.terminal.astype(float)
        seen = batch.state, jnp.abs(change), batch.reward[:, None], ends[:, None]
        moments = state.moments.add(jnp.concatenate(seen, axis=1))
        scales = moments.scales()
        inputs = jax.vmap(self._inputs, in_axes=(None, 0, 0))(scales, batch.state, batch.action)
        wanted = change / scales.change, (batch.reward - scales.reward[0]) / scales.reward[1]
        weights = jnp.where(batch.terminal, scales.weight, 1.0)

        def loss(params: Float[Array, " p"], times: Float[Array, " batch"]) -> Float[Array, ""]:
            outputs = jax.vmap(self._network(params))(inputs)
            errors = 2 * jnp.mean(optax.huber_loss(outputs[:, :-2], wanted[0]), axis=1)
            errors += (outputs[:, -2] - wanted[1]) ** 2
            logits = outputs[:, -1] + scales.logit + jnp.log(scales.weight)
            errors += weights * optax.sigmoid_binary_cross_entropy(logits, ends)
            return (times * errors).mean()

        times = bootstrap_weights(jax.vmap(Transition.pack)(batch), self.size)
        gradient = jax.vmap(jax.grad(loss))(state.params, times)
        step, optimizer = optax.adam(self.learning_rate).update(gradient, state.optimizer)
        return EnsembleState(state.params + step, optimizer, moments)

    def disagreement(
        self, state: EnsembleState, s: Float[Array, " n"], action: Action
    ) -> Float[Array, ""]:
        """The variance of what the members predict, in units of the run; see `Model.disagreement`.

        It is the mean over the coordinates of s' − s, the reward and the probability of the end.
        The variance is the mean squared deviation from the members' mean.
        """
        change, reward, end = self.predictions(state, s, action)
        scales = state.moments.scales()
        columns = change / scales.change, (reward / scales.reward[1])[:, None], end[:, None]
        return jnp.concatenate(columns, axis=1).var(0).mean()

    def predictions(
        self, state: EnsembleState, s: Float[Array, " n"], action: Action
    ) -> Predictions:
        """What all members predict."""
        scales = state.moments.scales()
        inputs = self._inputs(scales, s, action)
        outputs = jax.vmap(lambda params: self._network(params)(inputs))(state.params)
        centre, unit = scales.reward
        return Predictions(
            change=scales.change * outputs[:, :-2],
            reward=centre + unit * outputs[:, -2],
            end=jax.nn.sigmoid(outputs[:, -1] + scales.logit),
        )

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.layers(self.hidden)

    def _network(self, params: Float[Array, " p"]) -> Network:
        return network_from_flat(params, self._sizes, jax.nn.silu)

    def _inputs(
        self, scales: Scales, s: Float[Array, " n"], action: Action
    ) -> Float[Array, " inputs"]:
        centre, unit = scales.state
        return jnp.concatenate([(s - centre) / unit, self.action_inputs(action)])


# The cumulative distribution function of a Poisson number with mean 1, at 0, 1, ..., 7.
_CUMULATIVE = (0.367879, 0.735759, 0.919699, 0.981012, 0.996340, 0.999406, 0.999917, 0.999990)


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
