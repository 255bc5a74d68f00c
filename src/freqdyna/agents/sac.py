"""SAC: a soft actor-critic (Haarnoja et al., 2018) with an ensemble of critics, for one seed.

The actor outputs μ(s) and log σ(s); an action is a = tanh(μ + σ ε), scaled to the bounds. The
target of each critic is

    r + γ (min over a random subset of Q'(s', a') − α log π(a'|s')),  a' ~ π(·|s')

as in REDQ (Chen et al., 2021). The actor ascends the mean of all critics plus α times its entropy,
and α keeps the entropy at minus one per action. Searches climb V(s), the mean over the critics of
Q(s, tanh μ(s)), without the entropy.

With layer norm, the last hidden layer has numbers of size one, so that only the output layer can
make Q as large as the targets. Its steps are therefore multiplied by the size of the targets. To
divide all rewards by this size would have the same effect.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.learners import (
    Complete,
    Learner,
    LearnerState,
    Loss,
    Planned,
    Usable,
    losses,
)
from freqdyna.agents.networks import (
    ACTIVATIONS,
    FirstLayer,
    Network,
    flat_network,
    init_network,
    network_from_flat,
    parameter_count,
)
from freqdyna.config import Count, Positive, Widths
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Space
from freqdyna.frequency import Derivatives, Scalar, ValueFunction, stochastic_slopes

LOG_DEVIATIONS = -10.0, 2.0
"""The range of log σ."""


class PolicyValue(ValueFunction):
    """V(s), the mean over the critics of Q(s, tanh μ(s))."""

    actor: Network
    critics: Network
    iterations_at_once: ClassVar[int] = 1

    def __call__(self, state: Float[Array, " n"]) -> Scalar:
        """V(s)."""
        best = jnp.tanh(jnp.split(self.actor(state), 2)[0])
        return action_values(self.critics, state[None], best[None]).mean()

    def derivatives(self, state: Float[Array, " n"]) -> Derivatives:
        """V, ∇V and H_V."""
        return Derivatives.of(self, state)

    def slopes(
        self,
        state: Float[Array, " n"],
        gradient_weight: float | Scalar,
        hessian_weight: float | Scalar,
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """∇g and ∇V; probes along every coordinate make them exact."""
        n = state.shape[0]
        probes = jnp.sqrt(n) * jnp.eye(n)
        return stochastic_slopes(self, state, gradient_weight, hessian_weight, probes)


def action_values(
    critics: Network, states: Float[Array, "batch n"], actions: Float[Array, "batch a"]
) -> Float[Array, "critics batch"]:
    """Q(s, a) of each critic, for actions that are scaled to ±1."""
    inputs = jnp.concatenate([states, actions], axis=1)
    return jax.vmap(lambda critic: jax.vmap(critic)(inputs)[:, 0])(critics)


def sampled(
    outputs: Float[Array, " o"], noise: Float[Array, " a"]
) -> tuple[Float[Array, " a"], Scalar]:
    """The action tanh(μ + σ ε) from the actor's outputs, and the logarithm of its density."""
    mean, log_deviation = jnp.split(outputs, 2)
    log_deviation = jnp.clip(log_deviation, *LOG_DEVIATIONS)
    before = mean + jnp.exp(log_deviation) * noise
    normal = -0.5 * noise**2 - log_deviation - 0.5 * jnp.log(2 * jnp.pi)
    # log(1 − tanh²(x)) without cancellation
    squashed = 2 * (jnp.log(2.0) - before - jax.nn.softplus(-2 * before))
    return jnp.tanh(before), (normal - squashed).sum()


Exploration = tuple[Float[Array, "*shape a"], Float[Array, "*shape a"], Bool[Array, "*shape"]]
"""The noise of an action, which is zero for the greedy one, a random action, and whether to use the
random action."""


class SAC(Learner):
    """A soft actor-critic with Adam and slowly moving target networks, for continuous actions.

    All parameters are one vector: the actor's, those of the critics, and log α.
    """

    hidden: Widths = eqx.field(static=True, default=(256, 256))
    loss: Loss = eqx.field(static=True, default="squared")
    n_step: Count = eqx.field(static=True, default=1)
    critics: Count = eqx.field(static=True, default=10)
    """The number of critics."""
    subset: Count = eqx.field(static=True, default=2)
    """The number of critics, drawn for each update, whose minimum stands in its targets."""
    temperature: Positive = 0.1
    """The initial temperature (alpha): the value of a unit of entropy."""
    target_entropy: float | None = None
    """The entropy at which the temperature keeps the policy, for actions in ±1. If unset: minus the
    number of entries of an action."""
    agent_defaults: ClassVar[Mapping[str, Any]] = {
        "acting_network": "online",
        "batch_size": 256,
        "replay.prioritized_share": 0.0,
    }
    updates_at_once: ClassVar[int] = 1
    acts_before_updates: ClassVar[bool] = True

    def bind(self, space: Space) -> "SAC":
        """See `Learner.bind`."""
        if self.subset > self.critics:
            raise FreqdynaError(
                f"learner.subset is {self.subset}; it must be at most learner.critics, "
                f"{self.critics}"
            )
        return replace(self, space=space)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Layer widths of the actor."""
        space = self.bound_space
        return space.observation_size, *self.hidden, 2 * space.action_size

    @property
    def critic_sizes(self) -> tuple[int, ...]:
        """Layer widths of each critic."""
        space = self.bound_space
        return space.observation_size + space.action_size, *self.hidden, 1

    @property
    def are_outputs(self) -> Bool[np.ndarray, " p"]:
        """Which of all parameters belong to the output layers of the critics."""
        sizes = self.critic_sizes
        critic, biases = np.zeros(parameter_count(sizes), bool), sum(sizes[1:])
        critic[-biases - sizes[-2] : -biases] = critic[-1] = True
        actor = np.zeros(parameter_count(self.sizes), bool)
        return np.concatenate([actor, np.tile(critic, self.critics), [False]])

    def init_parameters(self, key: PRNGKeyArray) -> Float[Array, " p"]:
        """See `Learner.init_parameters`."""
        actor_key, critic_key = jax.random.split(key)
        critics = jax.vmap(lambda k: init_network(k, self.critic_sizes))(
            jax.random.split(critic_key, self.critics)
        )
        log_temperature = jnp.log(jnp.asarray(self.temperature, float))
        return self._flat(init_network(actor_key, self.sizes), critics, log_temperature)

    def _flat(
        self, actor: Network, critics: Network, log_temperature: Scalar
    ) -> Float[Array, " p"]:
        """All parameters as one vector."""
        rows = jax.vmap(flat_network)(critics)
        return jnp.concatenate([flat_network(actor), rows.reshape(-1), log_temperature[None]])

    def critic_networks(self, params: Float[Array, " p"]) -> Network:
        """The critics, with the first axis of each array over them."""
        rows = params[parameter_count(self.sizes) : -1].reshape(self.critics, -1)
        activation = ACTIVATIONS[self.activation]

        def network(row: Float[Array, " q"]) -> Network:
            return network_from_flat(row, self.critic_sizes, activation, self.layer_norm)

        return jax.vmap(network)(rows)

    def policy_network(self, network: Network) -> Network:
        """Only μ before the tanh; see `Learner.policy_network`."""
        return network.with_outputs(slice(0, self.bound_space.action_size))

    def with_first_layers(
        self, params: Float[Array, " p"], change: Callable[[FirstLayer], FirstLayer]
    ) -> Float[Array, " p"]:
        """See `Learner.with_first_layers`; the weights of the action stay."""
        n = self.bound_space.observation_size

        def changed(layer: FirstLayer) -> FirstLayer:
            weight, bias = change((layer[0][:n], layer[1]))
            return jnp.concatenate([weight, layer[0][n:]]), bias

        critics = jax.vmap(lambda critic: critic.with_first_layer(changed))(
            self.critic_networks(params)
        )
        return self._flat(self.network(params).with_first_layer(change), critics, params[-1])

    def value(self, params: Float[Array, " p"]) -> PolicyValue:
        """See `PolicyValue`."""
        return PolicyValue(self.network(params), self.critic_networks(params))

    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Float[Array, " a"]
    ) -> Float[Array, ""]:
        """The mean over the critics; see `Learner.action_value`."""
        scaled = self.bound_space.scaled_action(action)
        return action_values(self.critic_networks(params), state[None], scaled[None]).mean()

    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Exploration:
        """A sample of the policy, unless `epsilon` is 0 (the best action) or 1 (a uniform one)."""
        size, epsilon = (*shape, self.bound_space.action_size), jnp.asarray(epsilon)
        noise = jnp.where(epsilon > 0, jax.random.normal(keys[0], size), 0.0)
        anywhere = jax.random.uniform(keys[1], size, minval=-1.0)
        return noise, anywhere, jnp.broadcast_to(epsilon >= 1, shape)

    def select_action(
        self, outputs: Float[Array, " o"], exploration: Exploration
    ) -> Float[Array, " a"]:
        """The best action, a sample of the policy, or the random action."""
        noise, anywhere, at_random = exploration
        scaled = jnp.where(at_random, anywhere, sampled(outputs, noise)[0])
        return self.bound_space.unscaled_action(scaled)

    def bootstrap(
        self,
        state: LearnerState,
        next_states: Float[Array, "batch n"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, " batch"]:
        """The minimum over a subset of the target critics of one action, plus its entropy.

        Without a key: V of the target networks, see `PolicyValue`.
        """
        if key is None:
            return jax.vmap(self.value(state.target_params))(next_states)
        noise_key, subset_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, (len(next_states), self.bound_space.action_size))
        outputs = jax.vmap(self.network(state.params).with_fast_gradients())(next_states)
        actions, log_density = jax.vmap(sampled)(outputs, noise)
        critics = jax.vmap(Network.with_fast_gradients)(self.critic_networks(state.target_params))
        if self.subset < self.critics:
            chosen = jax.random.permutation(subset_key, self.critics)[: self.subset]
            critics = jax.tree.map(lambda leaf: leaf[chosen], critics)
        values = action_values(critics, next_states, actions).min(0)
        return values - jnp.exp(state.params[-1]) * log_density

    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
        planned: Planned | None,
        key: PRNGKeyArray,
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """One Adam step of the critics, the actor and α, all from the networks before it."""
        count, (target_key, noise_key) = len(states), jax.random.split(key)
        starts = states if planned is None else jnp.concatenate([states, planned.states])
        actor = self.network(state.params).with_fast_gradients()
        outputs, pull_back = jax.vjp(lambda network: jax.vmap(network)(starts), actor)
        batch = self.targets_of(state, outputs, complete, planned, target_key)
        weights = jnp.ones(len(starts)) if batch.weights is None else batch.weights
        scaled = self.bound_space.scaled_action(batch.actions)
        critics = jax.vmap(Network.with_fast_gradients)(self.critic_networks(state.params))

        def critic_loss(critics: Network) -> tuple[Scalar, Float[Array, " all"]]:
            differences = batch.targets - action_values(critics, starts, scaled)
            errors = self.learnable(differences, batch.usable)
            return (weights * losses(self.loss, errors)).sum() / count, differences.mean(0)

        slope, differences = jax.grad(critic_loss, has_aux=True)(critics)
        temperature = jnp.exp(state.params[-1])
        noise = jax.random.normal(noise_key, scaled.shape)

        def actor_loss(outputs: Float[Array, "all o"]) -> tuple[Scalar, Float[Array, " all"]]:
            actions, log_density = jax.vmap(sampled)(outputs, noise)
            values = action_values(critics, starts, actions).mean(0)
            return (weights * (temperature * log_density - values)).sum() / count, log_density

        actor_slope, log_density = jax.grad(actor_loss, has_aux=True)(outputs)
        target = self.target_entropy
        excess = log_density[:count].mean() + (-scaled.shape[1] if target is None else target)
        # The loss −log α · excess: α grows while the entropy is below its target.
        gradient = self._flat(pull_back(actor_slope)[0], slope, -excess)
        size = jnp.sqrt((self.learnable(batch.targets[:count], batch.usable) ** 2).mean())
        factors = jnp.where(self.are_outputs, size, 1.0)
        after = self.after_gradient(state, gradient, update_count, factors)
        return after, differences[:count], batch.usable

    def metrics(self, state: LearnerState) -> dict[str, Float[Array, ""]]:
        """The temperature."""
        return {"temperature": jnp.exp(state.params[-1])}
