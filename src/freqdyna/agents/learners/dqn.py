"""DQN: Q-learning with a network and a target network that is copied periodically."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.learners.base import Complete, Learner, LearnerState, Usable
from freqdyna.agents.learners.losses import loss_slope
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.config import Count
from freqdyna.core import unrolled
from freqdyna.envs.transition import Transition

RandomAction = tuple[Bool[Array, "*shape"], Int[Array, "*shape"]]
"""Whether each action is random, and the random action."""


class DQN(Learner):
    """Deep Q-learning with Adam, for discrete actions."""

    target_period: Count = 1000
    """Updates between copies of the network to the target network (the paper's tau)."""
    double: bool = eqx.field(static=True, default=False)
    """Whether the network chooses the action in the target, and the target network only evaluates
    it (double Q-learning)."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Layer widths, from the observation size to the number of actions."""
        assert self.space is not None
        return self.space.observation_size, *self.hidden, self.space.num_actions

    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s) = max_a Q(s, a)."""
        return StateValue(self.network(params))

    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Int[Array, ""]
    ) -> Float[Array, ""]:
        """The network's output for the action; see `Learner.action_value`."""
        return self.network(params)(state)[action]

    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> RandomAction:
        """With probability `epsilon` an action is random; see `Learner.draw_exploration`."""
        explores = jax.random.uniform(keys[0], shape) < epsilon
        return explores, jax.random.randint(keys[1], shape, 0, self.sizes[-1])

    def select_action(
        self, outputs: Float[Array, " actions"], exploration: RandomAction
    ) -> Int[Array, ""]:
        """The greedy or the random action; see `Learner.select_action`."""
        explore, random_action = exploration
        return jnp.where(explore, random_action, unrolled.argmax(outputs))

    def bootstrap(
        self, state: LearnerState, next_states: Float[Array, "batch n"]
    ) -> Float[Array, " batch"]:
        """max_a Q'(s', a), or Q'(s', argmax_a Q(s', a)) for double Q-learning."""
        values = jax.vmap(self.network(state.target_params))(next_states)
        if not self.double:
            return values.max(-1)
        choices = jax.vmap(self.network(state.params))(next_states)
        best = jax.vmap(unrolled.argmax)(choices)
        chosen = jnp.arange(values.shape[1]) == best[:, None]
        return unrolled.total(jnp.where(chosen, values, 0.0))

    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """The target is r + γ times `bootstrap`; see `Learner.update`."""
        values, pull_back = jax.vjp(
            lambda network: jax.vmap(network)(states), self.network(state.params)
        )
        rows, usable = complete(values)
        batch = jax.vmap(Transition.unpack)(rows)
        next_values = self.bootstrap(state, batch.next_state)
        targets = batch.reward + self.discount * jnp.where(batch.terminal, 0.0, next_values)
        taken = jnp.arange(values.shape[1]) == batch.action[:, None]
        differences = targets - unrolled.total(jnp.where(taken, values, 0.0))
        errors = self.learnable(differences, usable)
        slope = jnp.where(taken, loss_slope(self.loss, errors[:, None]), 0.0)
        (gradient,) = pull_back(slope)
        params, optimizer = self.apply_gradient(state, gradient)
        copy_now: Bool[Array, ""] = update_count % self.target_period == 0
        target_params = jnp.where(copy_now, params, state.target_params)
        return LearnerState(params, target_params, optimizer), differences, usable
