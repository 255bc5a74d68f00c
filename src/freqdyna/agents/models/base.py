"""The interface of a model (the paper's M): the outcome of an action in any state."""

import abc
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.config import Component
from freqdyna.core.errors import FreqdynaError, note_where
from freqdyna.core.plugins import require_shapes
from freqdyna.envs.space import Action, Space, Transition
from freqdyna.envs.space import Outcome as Outcome

ModelState = TypeVar("ModelState")
Outcomes = tuple[Float[Array, "2 n"], Float[Array, " 2"], Bool[Array, " 2"] | Float[Array, " 2"]]
"""Two outcomes of an action."""


class Model(Component, eqx.Module, Generic[ModelState]):
    """The base class of models, as pure functions for one state of one seed.

    A subclass implements `query`. A model that learns also has `init`, `learn` and `learn_batch`.
    Its fields with a default are its settings: `size: int = 5` is set by
    `train(model=Mine(size=3))` or `--model.size 3`.
    """

    def bind(self, space: Space) -> "Model[ModelState]":
        """The model for an environment; by default the model itself.

        Override this if the model needs to know the spaces of states and actions, as in
        `return dataclasses.replace(self, space=space)`.

        Args:
            space: The environment, or only its space if it is stepped in Python.

        """
        return self

    @property
    def noise_size(self) -> int:
        """The number of standard normal random numbers that one query uses; 0 by default."""
        return 0

    @property
    def learn_batch(self) -> int:
        """The number of stored transitions in a batch of `learn`; 0 if the model does not learn.

        The model learns at every step, as soon as so many transitions are stored.
        """
        return 0

    @property
    def knows_state_space(self) -> bool:
        """Whether searches may use the bounds and walls of the environment; False by default.

        Otherwise they are limited to the range of the visited states.
        """
        return False

    @property
    def knows_termination(self) -> bool:
        """Whether searches may ask the environment which states are terminal; False by default."""
        return False

    @property
    def is_always_finite(self) -> bool:
        """Whether every outcome is known to be finite, so that a training need not check it."""
        return False

    def with_scale(
        self, centre: Float[Array, " n"], half: Float[Array, " n"]
    ) -> "Model[ModelState]":
        """The model as the agent uses it with `scale_observations`; by default the model itself.

        Its states stay as they are: a network in it may see (s − centre) / half instead.

        Args:
            centre: The centre of each coordinate, or the mean of the visited states.
            half: Half the range of each coordinate, or their standard deviation.

        """
        return self

    def init(self, key: PRNGKeyArray) -> ModelState:
        """The state of the model before training, a pytree of arrays; None by default.

        It is saved in checkpoints and restored when a run is resumed.
        """
        return None  # type: ignore[return-value]

    @abc.abstractmethod
    def query(
        self,
        state: ModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """The outcome of an action.

        Args:
            state: The state of the model.
            s: The state of the environment, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.
            noise: Standard normal random numbers, shape (noise_size,).

        Returns:
            The next state, the reward, and whether the next state is terminal: JAX arrays of shapes
            (n,), () and (), two of floats and one of Booleans, or its probability as a float.
            Outcomes that are not finite are counted and reported, and not learned from.

        """

    def two_outcomes(
        self, state: ModelState, s: Float[Array, " n"], action: Action, key: PRNGKeyArray
    ) -> Outcomes:
        """Two answers: how far they differ tells how wrong they may be.

        By default they are two queries. An ensemble lets two members answer.
        """
        noise = jax.random.normal(key, (2, self.noise_size))
        return jax.vmap(lambda one: self.query(state, s, action, one))(noise)

    def learn(self, state: ModelState, batch: Transition) -> ModelState:
        """Train on transitions that were sampled uniformly from the replay buffer.

        Args:
            state: The state of the model.
            batch: Transitions whose arrays have `learn_batch` as their first axis.

        Returns:
            The new state, with the structure, shapes and types of the old one.

        """
        return state

    def error(self, state: ModelState, seen: Transition, space: Space) -> Float[Array, ""]:
        """The squared error of a prediction, for the metric `model_error` of models that learn.

        By default it is that of the predicted next state, averaged over coordinates, each divided
        by its range if that is known. The metric divides by what "nothing moves" has in these
        units.

        Args:
            state: The state of the model.
            seen: A transition that the model has not been trained on.
            space: The environment, or only its space.

        """
        noise = jnp.zeros(self.noise_size)
        predicted, _, _ = self.query(state, seen.state, seen.action, noise)
        return squared_distance(predicted, seen.next_state, space)

    def disagreement(
        self, state: ModelState, s: Float[Array, " n"], action: Action
    ) -> Float[Array, ""]:
        """How much the members of an ensemble disagree about an outcome.

        Args:
            state: The state of the model.
            s: The state of the environment, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.

        Raises:
            FreqdynaError: If the model is not an ensemble, while the program is traced.

        """
        raise FreqdynaError(
            f"model is {type(self).__name__}, which has no disagreement because it is not an "
            "ensemble; use model 'ensemble', or a class with the method disagreement"
        )

    @property
    def has_disagreement(self) -> bool:
        """Whether it has the method `disagreement`."""
        return type(self).disagreement is not Model.disagreement


def squared_distance(
    a: Float[Array, " n"], b: Float[Array, " n"], space: Space
) -> Float[Array, ""]:
    """The squared difference of two states, averaged over coordinates in units of their ranges."""
    return jnp.mean(((a - b) / known_ranges(space)) ** 2)


def known_ranges(space: Space) -> np.ndarray:
    """The range of each coordinate, shape (n,); 1 where it is not known."""
    span = space.high - space.low
    return np.where(np.isfinite(span), span, 1.0)


def check_model(model: Model[Any], space: Space) -> None:
    """Trace every method that a training calls; raise an error if one returns something else."""
    s, number, flag = jnp.zeros(space.observation_size), jnp.zeros(()), jnp.zeros((), bool)
    action = jnp.zeros((), int) if space.num_actions else jnp.zeros(space.action_size)
    seen = Transition(s, action, number, s, flag)

    def call(part: Model[Any], method: str, *arguments: Any) -> Any:
        with note_where(f"see freqdyna.agents.models.Model.{method} for what it must return"):
            return getattr(part, method)(*arguments)

    def check(part: Model[Any], method: str, wanted: Any, *arguments: Any) -> None:
        returned = call(part, method, *arguments)
        require_shapes(f"{type(part).__name__}.{method} returned", returned, wanted)

    def trace(key: PRNGKeyArray) -> None:
        state = call(model, "init", key)
        name = type(model).__name__
        require_shapes(f"{name}.init returned", state, jax.tree.map(jnp.asarray, state))
        scaled = call(model, "with_scale", s, s + 1)
        if not isinstance(scaled, Model):
            raise FreqdynaError(f"{name}.with_scale returned {scaled!r}; it must be a Model")
        for part in (model, scaled):
            noise = jnp.zeros(part.noise_size)
            for method, form, drawn in (
                ("query", lambda one: one, noise),
                ("two_outcomes", lambda one: jnp.stack([one, one]), key),
            ):
                # The last part is a Boolean, or a probability.
                last = jax.tree.leaves(call(part, method, state, s, action, drawn))[-1:]
                is_share = [getattr(end, "dtype", None) for end in last] == [number.dtype]
                wanted = tuple(map(form, (s, number, number if is_share else flag)))
                check(part, method, wanted, state, s, action, drawn)
            if part.has_disagreement:
                check(part, "disagreement", number, state, s, action)
            if part.learn_batch:
                batch = jax.tree.map(lambda x, n=part.learn_batch: jnp.stack([x] * n), seen)
                check(part, "learn", state, state, batch)
                check(part, "error", number, state, seen, space)

    jax.eval_shape(trace, jax.random.key(0))
