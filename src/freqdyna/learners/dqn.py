"""DQN: Q-learning of a network towards a target network that is copied now and then."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna import few
from freqdyna.frequency.network import StateValue
from freqdyna.learners.base import Complete, Learner, LearnerState
from freqdyna.learners.network import Network, init_network, network_from_flat
from freqdyna.replay.transition import Transition

Exploration = tuple[Bool[Array, "*shape"], Int[Array, "*shape"]]
"""Whether each action is random, and if so which it is."""


class DQNState(LearnerState):
    """What DQN learns."""

    params: Float[Array, " p"]
    target_params: Float[Array, " p"]
    optimizer: optax.OptState


class DQN(Learner[DQNState]):
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

    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s) = max_a Q(s, a)."""
        return StateValue(self.network(params))

    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Int[Array, ""]:
        """The epsilon-greedy action."""
        explore_key, action_key = jax.random.split(key)
        exploration = self.draw_exploration((explore_key, action_key), (), epsilon)
        return self.explored(self.network(params)(state), exploration)

    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Exploration:
        """A share `epsilon` of the actions is random."""
        explores = jax.random.uniform(keys[0], shape) < epsilon
        return explores, jax.random.randint(keys[1], shape, 0, self.sizes[-1])

    def explored(
        self, outputs: Float[Array, " actions"], exploration: Exploration
    ) -> Int[Array, ""]:
        """The greedy action by the action values, or the random one."""
        explore, random_action = exploration
        return jnp.where(explore, random_action, few.argmax(outputs))

    def update(
        self,
        state: DQNState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[DQNState, Float[Array, " batch"]]:
        """Towards r + γ max_a Q(s', a) of the target network; see `Learner.update`."""
        values, pull_back = jax.vjp(
            lambda network: jax.vmap(network)(states), self.network(state.params)
        )
        batch = jax.vmap(Transition.unpack)(complete(values))
        next_values = jax.vmap(self.network(state.target_params))(batch.next_state)
        targets = batch.reward + self.discount * jnp.where(batch.terminal, 0.0, next_values.max(-1))
        taken = jnp.arange(values.shape[1]) == batch.action[:, None]
        differences = targets - few.total(jnp.where(taken, values, 0.0))
        # The derivative of the mean of the squared differences by the values.
        slope = jnp.where(taken, -2 / len(states) * differences[:, None], 0.0)
        (gradient,) = pull_back(slope)
        step, optimizer = self._optimizer.update(ravel_pytree(gradient)[0], state.optimizer)
        params = state.params + step
        copy_now: Bool[Array, ""] = update_count % self.target_period == 0
        target_params = jnp.where(copy_now, params, state.target_params)
        return DQNState(params, target_params, optimizer), differences

    @property
    def _optimizer(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)
