"""The contract of a value learner, for one seed: a network, and how it acts and learns."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.networks.mlp import Network, init_network, network_from_flat
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.envs.space import Action

Complete = Callable[[Float[Array, "batch outputs"]], Float[Array, "batch width"]]
"""Packed transitions that begin at given states, from the network's outputs there."""


class LearnerState(eqx.Module):
    """What is learned. Parameters are one flat vector, so that Adam is one fused operation."""

    params: Float[Array, " p"]
    target_params: Float[Array, " p"]
    optimizer: optax.OptState


class Learner(eqx.Module):
    """A network with a target network, trained by Adam; a subclass says what its outputs mean."""

    sizes: eqx.AbstractVar[tuple[int, ...]]
    """Layer widths of the network, from the observation size to its outputs."""
    learning_rate: eqx.AbstractVar[float]

    @abc.abstractmethod
    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s), which searches climb."""

    @abc.abstractmethod
    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Any:
        """Random numbers for `shape` actions, drawn before the network's outputs are known."""

    @abc.abstractmethod
    def select_action(self, outputs: Float[Array, " o"], exploration: Any) -> Action:
        """The action for the network's outputs at one state and one draw of exploration."""

    @abc.abstractmethod
    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[LearnerState, Float[Array, " batch"]]:
        """One Adam step on a mini-batch; also its temporal differences.

        `complete` makes packed transitions of the states, given the network's outputs there: a
        simulated transition begins with an action of the policy, and the outputs serve for both.
        `update_count` is the number of updates including this one (the paper's n_tau).
        """

    def init(self, key: PRNGKeyArray) -> LearnerState:
        """A fresh network, its copy as target, and Adam at rest."""
        params = ravel_pytree(init_network(key, self.sizes))[0]
        # A copy of its own: a donated state must not hold the same buffer twice.
        return LearnerState(params, params.copy(), self._optimizer.init(params))

    def network(self, params: Float[Array, " p"]) -> Network:
        """The network that a flat parameter vector stands for."""
        return network_from_flat(params, self.sizes)

    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy, exploring by `epsilon`: 1 is all at random."""
        explore_key, action_key = jax.random.split(key)
        exploration = self.draw_exploration((explore_key, action_key), (), epsilon)
        return self.select_action(self.network(params)(state), exploration)

    def apply_gradient(
        self, state: LearnerState, gradient: Network
    ) -> tuple[Float[Array, " p"], optax.OptState]:
        """Parameters and Adam's memory one step down the gradient."""
        step, optimizer = self._optimizer.update(ravel_pytree(gradient)[0], state.optimizer)
        return state.params + step, optimizer

    @property
    def _optimizer(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)
