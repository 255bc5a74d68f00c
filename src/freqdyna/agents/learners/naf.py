"""NAF: Q-learning with continuous actions, where Q is quadratic in the action.

    Q(s, a) = V(s) − (a − μ(s))ᵀ P(s) (a − μ(s))

as in the paper, without the ½ of Gu et al. (2016); P = LLᵀ. Internally, actions are scaled to ±1.
One network outputs V, the entries of μ before a tanh, and those of L.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.learners.base import Complete, Learner, LearnerState, Usable
from freqdyna.agents.learners.losses import mean_loss
from freqdyna.agents.networks.mlp import Network
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.config import Share, Widths
from freqdyna.envs.transition import Transition

ActionNoise = tuple[Float[Array, "*shape a"], Float[Array, "*shape a"], Bool[Array, "*shape"]]
"""Noise for the best action, a random action, and whether to use the random action."""


def output_size(action_size: int) -> int:
    """The number of network outputs: V, μ, and the lower triangle of L."""
    return 1 + action_size + action_size * (action_size + 1) // 2


class Advantage(eqx.Module):
    """The outputs of the network at one state, with actions scaled to ±1."""

    value: Float[Array, ""]
    best: Float[Array, " a"]
    """μ(s)."""
    factor: Float[Array, "a a"]
    """L(s), lower triangular with a positive diagonal."""

    @staticmethod
    def of(outputs: Float[Array, " o"], action_size: int) -> "Advantage":
        """Interpret the network's outputs, shape (o,)."""
        value, best, entries = outputs[0], outputs[1 : 1 + action_size], outputs[1 + action_size :]
        rows, columns = np.tril_indices(action_size)
        entries = jnp.where(rows == columns, jax.nn.softplus(entries), entries)
        factor = jnp.zeros((action_size, action_size)).at[rows, columns].set(entries)
        return Advantage(value, jnp.tanh(best), factor)

    def q(self, action: Float[Array, " a"]) -> Float[Array, ""]:
        """Q(s, a) of a scaled action."""
        return self.value - jnp.sum((self.factor.T @ (action - self.best)) ** 2)


class NAF(Learner):
    """Normalized advantage functions with Adam and a target network that is updated slowly."""

    hidden: Widths = eqx.field(static=True, default=(64, 64))
    """Widths of the hidden layers."""
    target_rate: Share = 0.005
    """The fraction by which the target network moves towards the online network per update."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Layer widths, from the observation size to the number of outputs."""
        assert self.space is not None
        return self.space.observation_size, *self.hidden, output_size(self.space.action_size)

    @property
    def low(self) -> np.ndarray:
        """The lower bound of each action, shape (a,)."""
        assert self.space is not None
        return self.space.action_low

    @property
    def high(self) -> np.ndarray:
        """The upper bound of each action, shape (a,)."""
        assert self.space is not None
        return self.space.action_high

    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s): the network with only its first output."""
        network = self.network(params)
        weights = (*network.weights[:-1], network.weights[-1][:, :1])
        biases = (*network.biases[:-1], network.biases[-1][:1])
        return StateValue(Network(weights, biases, network.activation))

    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Float[Array, " a"]
    ) -> Float[Array, ""]:
        """Q(s, a), quadratic in the action; see `Learner.action_value`."""
        scaled = 2 * (action - self.low) / (self.high - self.low) - 1
        return Advantage.of(self.network(params)(state), len(self.low)).q(scaled)

    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> ActionNoise:
        """Gaussian noise with standard deviation `epsilon`; if it is 1, uniform actions.

        The standard deviation is relative to half the range; see `Learner.draw_exploration`.
        """
        size = (*shape, len(self.low))
        noise = epsilon * jax.random.normal(keys[0], size)
        anywhere = jax.random.uniform(keys[1], size, minval=-1.0)
        return noise, anywhere, jnp.broadcast_to(jnp.asarray(epsilon) >= 1, shape)

    def select_action(
        self, outputs: Float[Array, " o"], exploration: ActionNoise
    ) -> Float[Array, " a"]:
        """μ(s) plus noise, clipped to the bounds, or the random action."""
        noise, anywhere, at_random = exploration
        best = Advantage.of(outputs, len(self.low)).best
        scaled = jnp.where(at_random, anywhere, jnp.clip(best + noise, -1, 1))
        return self.low + (scaled + 1) / 2 * (self.high - self.low)

    def bootstrap(
        self, state: LearnerState, next_states: Float[Array, "batch n"]
    ) -> Float[Array, " batch"]:
        """V(s') of the target network."""
        return jax.vmap(self.value(state.target_params))(next_states)

    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """The target is r + γ V(s') of the target network; see `Learner.update`."""
        outputs, pull_back = jax.vjp(
            lambda network: jax.vmap(network)(states), self.network(state.params)
        )
        size = len(self.low)
        rows, usable = complete(outputs)
        batch = jax.vmap(lambda row: Transition.unpack(row, size))(rows)
        next_values = self.bootstrap(state, batch.next_state)
        targets = batch.reward + self.discount * jnp.where(batch.terminal, 0.0, next_values)
        scaled = 2 * (batch.action - self.low) / (self.high - self.low) - 1

        def loss(
            outputs: Float[Array, "batch o"],
        ) -> tuple[Float[Array, ""], Float[Array, " batch"]]:
            q = jax.vmap(lambda o, a: Advantage.of(o, size).q(a))(outputs, scaled)
            return mean_loss(self.loss, self.learnable(targets - q, usable)), targets - q

        slope, differences = jax.grad(loss, has_aux=True)(outputs)
        (gradient,) = pull_back(slope)
        params, optimizer = self.apply_gradient(state, gradient)
        target_params = state.target_params + self.target_rate * (params - state.target_params)
        return LearnerState(params, target_params, optimizer), differences, usable
