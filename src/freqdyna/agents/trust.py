"""Trust: how much a simulated transition counts beside the stored ones.

Everything is compared in targets, y = r + γ(1 − p) V(s'), because an error of the model matters as
far as it changes them. All quantities are ratios of targets, so that the units of rewards and
observations do not matter.
"""

import abc
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from freqdyna.config import Component, NotNegative
from freqdyna.core.errors import note_where
from freqdyna.core.plugins import Registry, require_shapes
from freqdyna.envs.space import Action, Space, Transition

TrustState = TypeVar("TrustState")


class Prediction(NamedTuple):
    """What is known about a simulated transition, or about a real one before it was seen."""

    state: Float[Array, " n"]
    action: Action
    target: Float[Array, ""]
    """r + γ(1 − p) V(s'), the mean of two answers of the model."""
    variance: Float[Array, ""]
    """The variance of the two targets; the answers of an ensemble are those of two members."""
    disagreement: Float[Array, ""]
    """How much an ensemble disagrees about the outcome, see `Model.disagreement`; else 0."""
    action_value: Float[Array, ""]
    """Q(s, a)."""
    state_value: Float[Array, ""]
    """V(s), as it would stand in a target."""
    discount: Float[Array, ""]
    """γ."""


class Trust(Component, eqx.Module, Generic[TrustState]):
    """The base class of trust, as pure functions for one transition of one seed.

    A subclass implements `judge`. One that learns from what the model predicted also has `init` and
    `observe`. Its fields with a default are its settings, like those of a search-control.
    """

    def init(self) -> TrustState:
        """The state before the first step, a pytree of arrays; None by default."""
        return None  # type: ignore[return-value]

    def observe(
        self,
        state: TrustState,
        prediction: Prediction,
        seen: Transition,
        target: Float[Array, ""],
    ) -> TrustState:
        """Compare a prediction with what happened; called at every step.

        Args:
            state: The state of this object.
            prediction: What the model predicted for the new transition.
            seen: The transition, which the model has not learned from.
            target: Its target.

        Returns:
            The new state, with the structure, shapes and types of the old one.

        """
        return state

    def metrics(self, state: TrustState) -> dict[str, Float[Array, ""]]:
        """What a run records at an evaluation, by name; nothing by default."""
        return {}

    @abc.abstractmethod
    def judge(
        self, state: TrustState, prediction: Prediction
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The target to learn for a simulated transition, and its weight.

        Args:
            state: The state of this object.
            prediction: What is known about the simulated transition.

        Returns:
            The target, such as `prediction.target`, and the weight, from 0 (not used) to 1 (counts
            like a stored transition): JAX arrays of shape ().

        """


class Always(Trust[None]):
    """Every simulated transition counts like a stored one, and takes its place in the mini-batch.

    It is what the paper does. The model then answers with one outcome for each update.
    """

    def judge(
        self, state: None, prediction: Prediction
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The target as it is; see `Trust.judge`."""
        return prediction.target, jnp.ones(())


SLOWEST = 1 / 500
"""The least share of a new transition in the running means."""
TELLING = 0.05
"""A reward tells something if it is so far from the mean, in root mean squares of the rewards."""
TINY = 1e-30
OF_EVERY_RUN = {"seed", "step", "return", "length", "terminated", "seconds"}
"""The columns of a run's metrics that an agent does not know."""


class Record(eqx.Module):
    """Running means over new transitions."""

    count: Float[Array, ""]
    model_error: Float[Array, ""]
    """Of the squared error of the predicted targets."""
    variance: Float[Array, ""]
    """Of the variance of the predicted targets."""
    trivial_error: Float[Array, ""]
    """Of the squared error of the target if nothing moves, with the mean reward."""
    td_error: Float[Array, ""]
    """Of the squared temporal-difference error."""
    reward: Float[Array, ""]
    squared_reward: Float[Array, ""]
    ends: Float[Array, ""]
    """The share of terminations."""
    events: Float[Array, ""]
    """How many rewards and terminations have told something, in all."""


class Calibrated(Trust[Record]):
    """Simulated transitions come on top, as far as the model predicts new ones better than Q does.

    The expected squared error of a target is κv, where v is the variance of the model's two
    answers, and κ is the ratio of both on new transitions, each predicted before it was learned
    from. The weight is the share of what can be learned in what would be learned, as in a Wiener
    filter: E[δ²] / (E[δ²] + κv), with the temporal-difference errors δ of new transitions. It is 0
    as long as the model predicts their targets no better than "nothing moves".

    Optimism: as long as nearly all rewards are alike and no episode terminates, what the ensemble
    does not know is worth a visit. Its targets are higher, and they count fully.
    """

    optimism: NotNegative = 1.0
    """The additional reward of a wholly unknown outcome, in root mean squares of the rewards."""
    informed: NotNegative = 10.0
    """After so many terminations, or rewards unlike the others, there is no more optimism."""

    def init(self) -> Record:
        """Nothing has been seen; see `Trust.init`."""
        return Record(*[jnp.zeros(())] * 9)

    def observe(
        self,
        state: Record,
        prediction: Prediction,
        seen: Transition,
        target: Float[Array, ""],
    ) -> Record:
        """Update the running means; see `Trust.observe`."""
        end = seen.terminal.astype(float)
        reward = jnp.where(state.count > 0, state.reward, seen.reward)
        trivial = reward + prediction.discount * (1 - state.ends) * prediction.state_value
        size = jnp.sqrt(state.squared_reward)
        telling = (state.count > 0) & (jnp.abs(seen.reward - state.reward) > TELLING * size)
        new = Record(
            count=state.count + 1,
            model_error=(prediction.target - target) ** 2,
            variance=prediction.variance,
            trivial_error=(trivial - target) ** 2,
            td_error=(target - prediction.action_value) ** 2,
            reward=seen.reward,
            squared_reward=seen.reward**2,
            ends=end,
            events=state.events + jnp.maximum(end, telling),
        )
        share = jnp.maximum(1 / new.count, SLOWEST)
        mixed = jax.tree.map(lambda old, last: old + share * (last - old), state, new)
        mixed = eqx.tree_at(lambda r: (r.count, r.events), mixed, (new.count, new.events))
        # A prediction that is not finite says nothing about the others.
        finite = jnp.isfinite(jnp.stack(jax.tree.leaves(mixed))).all()
        return jax.tree.map(lambda old, last: jnp.where(finite, last, old), state, mixed)

    def metrics(self, state: Record) -> dict[str, Float[Array, ""]]:
        """How good and how well calibrated the predicted targets are; see `Trust.metrics`."""
        error = jnp.sqrt(state.model_error)
        return {
            "target_error": error / jnp.sqrt(state.trivial_error),
            "target_deviation": jnp.sqrt(state.variance) / error,
        }

    def judge(
        self, state: Record, prediction: Prediction
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The weight of the filter, and the optimistic target; see `Trust.judge`."""
        skill = jnp.maximum(1 - state.model_error / jnp.maximum(state.trivial_error, TINY), 0.0)
        # A model that gives one answer only has no variances: its mean error counts everywhere.
        least = 1e-6 * state.model_error + TINY
        calibration = state.model_error / (state.variance + least)
        expected = calibration * (prediction.variance + least)
        trusted = skill * state.td_error / (state.td_error + expected + TINY)
        curious = jnp.maximum(1 - state.events / jnp.maximum(self.informed, TINY), 0.0)
        # Without an ensemble there is no disagreement, so that nothing is known to be unknown.
        is_used = (self.optimism > 0) & (self.informed > 0) & (prediction.disagreement > 0)
        curious = jnp.where(is_used, curious, 0.0)
        size = jnp.sqrt(state.squared_reward)
        unit = self.optimism * jnp.where(size > 0, size, 1.0)
        bonus = curious * unit * jnp.minimum(jnp.sqrt(prediction.disagreement), 1.0)
        return prediction.target + bonus, jnp.maximum(trusted, curious)


def check_trust(trust: Trust[Any], space: Space) -> None:
    """Trace every method that a training calls; raise an error if one returns something else."""
    s, number = jnp.zeros(space.observation_size), jnp.zeros(())
    action = jnp.zeros((), int) if space.num_actions else jnp.zeros(space.action_size)
    seen = Transition(s, action, number, s, jnp.zeros((), bool))
    prediction = Prediction(s, action, *[number] * 6)
    name = type(trust).__name__

    def trace() -> None:
        state = trust.init()
        require_shapes(f"{name}.init returned", state, jax.tree.map(jnp.asarray, state))
        observed = trust.observe(state, prediction, seen, number)
        require_shapes(f"{name}.observe returned", observed, state)
        for key, value in trust.metrics(state).items():
            require_shapes(f"{name}.metrics returned as {key!r}", value, number)
        require_shapes(f"{name}.judge returned", trust.judge(state, prediction), (number, number))

    with note_where("see freqdyna.agents.trust.Trust for what its methods must return"):
        jax.eval_shape(trace)


TRUSTS: Registry[Trust[Any]] = Registry("trust", Trust)
"""The built-in kinds of trust by name."""
TRUSTS |= {"always": Always, "calibrated": Calibrated}
