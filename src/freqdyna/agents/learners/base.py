"""The interface of a value learner, for one seed: a network, and how it acts and learns."""

import abc
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.learners.losses import Loss
from freqdyna.agents.networks.activations import ACTIVATIONS
from freqdyna.agents.networks.mlp import Network, init_network, network_from_flat
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.config import Component, NotNegative, Positive, Share, Widths
from freqdyna.envs.space import Action, Space

Usable = Bool[Array, " batch"] | None
"""Which transitions of a mini-batch are learned from; None for all. The others must have the reward
NaN."""
Complete = Callable[[Float[Array, "batch outputs"]], tuple[Float[Array, "batch width"], Usable]]
"""From the network's outputs at given states to packed transitions that start in these states, and
which of them to learn from."""


class LearnerState(eqx.Module):
    """Parameters and optimiser state; flat vectors, so that Adam is one fused operation."""

    params: Float[Array, " p"]
    target_params: Float[Array, " p"]
    optimizer: optax.OptState


class Learner(Component, eqx.Module):
    """A network with a target network, trained by Adam; a subclass interprets its outputs."""

    hidden: Widths = eqx.field(static=True, default=(32, 32))
    """Widths of the hidden layers."""
    activation: Literal["tanh", "relu", "silu"] = eqx.field(static=True, default="tanh")
    """The activation of the hidden layers."""
    learning_rate: NotNegative = 1e-3
    """The learning rate of Adam."""
    discount: Share = 0.99
    """The discount factor (gamma)."""
    loss: Loss = eqx.field(static=True, default="squared")
    """The loss of a temporal-difference error d: "squared" is d², "huber" is d²/2 up to |d| = 1 and
    |d| − 1/2 beyond."""
    max_gradient_norm: Positive | None = None
    """Longer gradients are scaled to this norm before Adam; None for no limit."""
    space: Space | None = None
    """The spaces of states and actions, see `bind`."""

    def bind(self, space: Space) -> "Learner":
        """The learner for an environment: only with its spaces are the sizes of layers known."""
        return replace(self, space=space)

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Layer widths of the network, from the observation size to the number of outputs."""

    @abc.abstractmethod
    def value(self, params: Float[Array, " p"]) -> StateValue:
        """The state value V(s), which searches climb.

        Args:
            params: The flat parameter vector, shape (p,).

        """

    @abc.abstractmethod
    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Action
    ) -> Float[Array, ""]:
        """Q(s, a).

        Args:
            params: The flat parameter vector, shape (p,).
            state: Shape (n,).
            action: Shape () if discrete, (a,) if continuous.

        """

    @abc.abstractmethod
    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Any:
        """Draw the random numbers for exploration before the network's outputs are known.

        Args:
            keys: Two random keys.
            shape: The shape of the batch of actions.
            epsilon: The amount of exploration, from 0 (greedy) to 1 (random).

        """

    @abc.abstractmethod
    def select_action(self, outputs: Float[Array, " o"], exploration: Any) -> Action:
        """The action at one state.

        Args:
            outputs: The network's outputs there, shape (o,).
            exploration: What `draw_exploration` drew for one action.

        """

    @abc.abstractmethod
    def bootstrap(
        self, state: LearnerState, next_states: Float[Array, "batch n"]
    ) -> Float[Array, " batch"]:
        """The values of next states in the targets of `update`, shape (batch,).

        Args:
            state: The parameters of both networks.
            next_states: Shape (batch, n).

        """

    @abc.abstractmethod
    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """Take one Adam step on a mini-batch.

        Args:
            state: The parameters and the optimiser state.
            states: The states in which the transitions of the mini-batch start, shape (batch, n).
            complete: From the network's outputs at these states to packed transitions. A simulated
                transition needs an action of the policy, so the outputs serve two purposes.
            update_count: The number of updates including this one (the paper's n_tau).

        Returns:
            The new state; the temporal-difference errors of shape (batch,), which are NaN for
            transitions that are not learned from; and what `complete` said about that.

        """

    @staticmethod
    def learnable(errors: Float[Array, " batch"], usable: Usable) -> Float[Array, " batch"]:
        """The errors to learn from: zero for transitions that are not usable.

        Args:
            errors: The temporal-difference errors, shape (batch,).
            usable: What `complete` returned.

        """
        # Not `where(usable, ...)`: with one more input the compiled program adds in another order,
        # and its last digits change.
        return errors if usable is None else jnp.where(jnp.isfinite(errors), errors, 0.0)

    def init(self, key: PRNGKeyArray) -> LearnerState:
        """The initial network, a copy as target network, and the initial optimiser state."""
        params = ravel_pytree(init_network(key, self.sizes))[0]
        # A separate copy: a donated state must not contain the same buffer twice.
        return LearnerState(params, params.copy(), self._optimizer.init(params))

    def network(self, params: Float[Array, " p"]) -> Network:
        """The network with these parameters, a flat vector of shape (p,)."""
        return network_from_flat(params, self.sizes, ACTIVATIONS[self.activation])

    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy.

        Args:
            params: The flat parameter vector, shape (p,).
            state: Shape (n,).
            epsilon: The amount of exploration, from 0 (greedy) to 1 (random).
            key: A random key.

        """
        explore_key, action_key = jax.random.split(key)
        exploration = self.draw_exploration((explore_key, action_key), (), epsilon)
        return self.select_action(self.network(params)(state), exploration)

    def apply_gradient(
        self, state: LearnerState, gradient: Network
    ) -> tuple[Float[Array, " p"], optax.OptState]:
        """Take one Adam step; returns the new parameters and optimiser state."""
        flat = ravel_pytree(gradient)[0]
        if self.max_gradient_norm is not None:
            flat = clip_norm(flat, self.max_gradient_norm)
        step, optimizer = self._optimizer.update(flat, state.optimizer)
        return state.params + step, optimizer

    @property
    def _optimizer(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)


def clip_norm(
    gradient: Float[Array, " p"], greatest: float | Float[Array, ""]
) -> Float[Array, " p"]:
    """The gradient, scaled to the Euclidean norm `greatest` if it is longer."""
    norm = jnp.linalg.norm(gradient)
    return gradient * jnp.where(norm > greatest, greatest / norm, 1.0)
