"""DQN: Q-learning of a network towards a target network that is copied now and then."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.learners.network import Network, init_network, network_from_flat
from freqdyna.replay.transition import Transition


class DQNState(eqx.Module):
    """What DQN learns. Parameters are one flat vector, so that Adam is one fused operation."""

    params: Float[Array, " p"]
    target_params: Float[Array, " p"]
    optimizer: optax.OptState


class DQN(eqx.Module):
    """Deep Q-learning with Adam, for one state or one mini-batch at a time."""

    sizes: tuple[int, ...] = eqx.field(static=True)
    """Layer widths, from the observation size to the number of actions."""
    discount: float
    learning_rate: float
    target_period: int
    """The target network is copied every so many updates (the paper's tau)."""

    def init(self, key: PRNGKeyArray) -> DQNState:
        """A fresh network, its copy as target, and Adam at rest."""
        params = ravel_pytree(init_network(key, self.sizes))[0]
        # A copy of its own: a donated state must not hold the same buffer twice.
        return DQNState(params, params.copy(), self._optimizer.init(params))

    def network(self, params: Float[Array, " p"]) -> Network:
        """The network that a flat parameter vector stands for."""
        return network_from_flat(params, self.sizes)

    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Int[Array, ""]:
        """The epsilon-greedy action."""
        explore_key, action_key = jax.random.split(key)
        random_action = jax.random.randint(action_key, (), 0, self.sizes[-1])
        greedy_action = jnp.argmax(self.network(params)(state))
        explore = jax.random.uniform(explore_key) < epsilon
        return jnp.where(explore, random_action, greedy_action)

    def update(
        self, state: DQNState, rows: Float[Array, "batch width"], update_count: Int[Array, ""]
    ) -> tuple[DQNState, Float[Array, " batch"]]:
        """One Adam step on a mini-batch of packed transitions; also its temporal differences.

        `update_count` is the number of updates including this one (the paper's n_tau).
        """
        batch = jax.vmap(Transition.unpack)(rows)
        next_values = jax.vmap(self.network(state.target_params))(batch.next_state).max(-1)
        targets = batch.reward + self.discount * jnp.where(batch.terminal, 0.0, next_values)

        def loss(network: Network) -> tuple[Float[Array, ""], Float[Array, " batch"]]:
            values = jax.vmap(network)(batch.state)
            chosen = jnp.take_along_axis(values, batch.action[:, None], axis=-1)[:, 0]
            differences = targets - chosen
            return jnp.mean(differences**2), differences

        gradient, differences = jax.grad(loss, has_aux=True)(self.network(state.params))
        step, optimizer = self._optimizer.update(ravel_pytree(gradient)[0], state.optimizer)
        params = state.params + step
        copy_now: Bool[Array, ""] = update_count % self.target_period == 0
        target_params = jnp.where(copy_now, params, state.target_params)
        return DQNState(params, target_params, optimizer), differences

    @property
    def _optimizer(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)
