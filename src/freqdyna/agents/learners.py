"""Value learners, for one seed: networks with target networks, and how they act and learn.

`Learner` is what an agent knows of them; `sac.py` has the actor-critic. DQN and NAF have one
network. NAF is for continuous actions, in which Q is quadratic:

    Q(s, a) = V(s) − (a − μ(s))ᵀ P(s) (a − μ(s))

as in the paper, without the ½ of Gu et al. (2016); P = LLᵀ. Internally, actions are scaled to ±1.
One network outputs V, the entries of μ before a tanh, and those of L.
"""

import abc
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from freqdyna.agents.networks import (
    ACTIVATIONS,
    FirstLayer,
    Network,
    StateValue,
    flat_network,
    init_network,
    network_from_flat,
)
from freqdyna.config import Component, Count, Fraction, NotNegative, Positive, Share, Widths
from freqdyna.core import unrolled
from freqdyna.envs.space import Action, Space, Transition
from freqdyna.frequency import ValueFunction

Loss = Literal["squared", "huber"]
"""The loss of an error d: d², or Huber's: d²/2 up to |d| = 1 and |d| − 1/2 beyond."""


def losses(loss: Loss, errors: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """The losses of temporal-difference errors."""
    return errors**2 if loss == "squared" else optax.huber_loss(errors)


def loss_slope(loss: Loss, errors: Float[Array, "batch 1"]) -> Float[Array, "batch 1"]:
    """The derivative of the mean loss with respect to each prediction, in closed form."""
    count = errors.shape[0]
    if loss == "squared":
        return -2 / count * errors
    return -1 / count * jnp.clip(errors, -1.0, 1.0)


Usable = Bool[Array, " batch"] | None
"""Which transitions of a mini-batch are learned from; None for all. The others must have the reward
NaN."""
Complete = Callable[[Float[Array, "batch outputs"]], tuple[Float[Array, "batch width"], Usable]]
"""From the network's outputs at some states to packed transitions that start in these states, and
which of them to learn from."""


class Planned(NamedTuple):
    """Simulated transitions with their complete targets, as the network sees states."""

    states: Float[Array, "*d k n"]
    actions: Shaped[Array, "..."]
    targets: Float[Array, "*d k"]
    weights: Float[Array, "*d k"]
    """How much each counts beside a stored transition, from 0 to 1."""


class Targets(NamedTuple):
    """What a mini-batch says about Q: the stored transitions first, then the planned ones."""

    actions: Shaped[Array, "all ..."]
    targets: Float[Array, " all"]
    weights: Float[Array, " all"] | None
    """How much each counts; None if all of them are stored."""
    usable: Usable


class LearnerState(eqx.Module):
    """Parameters and optimiser state; flat vectors, so that Adam is one fused operation."""

    params: Float[Array, " p"]
    target_params: Float[Array, " p"]
    optimizer: optax.OptState


class Learner(Component, eqx.Module):
    """Networks with target networks, trained by Adam; the base class of all learners."""

    agent_defaults: ClassVar[Mapping[str, Any]] = {}
    """Defaults of the agent and its other components that differ with this learner."""
    updates_at_once: ClassVar[int] = unrolled.ITERATIONS_AT_ONCE
    """On a GPU, so many updates are compiled as one iteration of a loop."""
    acts_before_updates: ClassVar[bool] = False
    """Whether an action in an environment that is stepped in Python comes from the network before
    the updates of the last step, so that the updates and the environment run at the same time."""
    hidden: Widths = eqx.field(static=True, default=(128, 128))
    """Widths of the hidden layers."""
    activation: Literal["tanh", "relu", "silu"] = eqx.field(static=True, default="silu")
    """The activation of the hidden layers."""
    layer_norm: bool = eqx.field(static=True, default=True)
    """Whether the inputs of each activation are normalised over the units of their layer."""
    learning_rate: NotNegative = 3e-4
    """The learning rate of Adam."""
    discount: Share = 0.99
    """The discount factor (gamma)."""
    loss: Loss = eqx.field(static=True, default="huber")
    """The loss of a temporal-difference error d: "squared" is d², "huber" is d²/2 up to |d| = 1 and
    |d| − 1/2 beyond."""
    max_gradient_norm: Positive | None = None
    """Longer gradients are scaled to this norm before Adam; None for no limit."""
    n_step: Count = eqx.field(static=True, default=3)
    """The rewards of so many steps stand in a target, before the value of the state after them."""
    target_period: Count = 1
    """Updates between changes of the target network (the paper's tau)."""
    target_rate: Fraction = 0.005
    """The fraction by which such a change moves the target network to the network; 1 copies it."""
    space: Space | None = None
    """The spaces of states and actions, see `bind`."""

    def bind(self, space: Space) -> "Learner":
        """The learner for an environment: only with its spaces are the sizes of layers known."""
        return replace(self, space=space)

    @property
    def bound_space(self) -> Space:
        """The space of `bind`."""
        assert self.space is not None, "the learner is not bound to an environment"
        return self.space

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Layer widths of the network that acts, from the observation size to its outputs.

        Its parameters are the first ones.
        """

    @abc.abstractmethod
    def value(self, params: Float[Array, " p"]) -> ValueFunction:
        """The state value V(s), which searches climb."""

    @abc.abstractmethod
    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Action
    ) -> Float[Array, ""]:
        """Q(s, a)."""

    @abc.abstractmethod
    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Any:
        """Draw the random numbers of a batch of actions before the network's outputs are known.

        `epsilon` is the amount of exploration, from 0 (greedy) to 1 (random).
        """

    @abc.abstractmethod
    def select_action(self, outputs: Float[Array, " o"], exploration: Any) -> Action:
        """The action at one state, from the network's outputs and what `draw_exploration` drew."""

    @abc.abstractmethod
    def bootstrap(
        self,
        state: LearnerState,
        next_states: Float[Array, "batch n"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, " batch"]:
        """The values of next states in the targets of `update`.

        Without a key, nothing in them is random.
        """

    @abc.abstractmethod
    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
        planned: Planned | None,
        key: PRNGKeyArray,
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """Take one Adam step on a mini-batch, towards r + γ times `bootstrap`.

        Args:
            state: The parameters and the optimiser state.
            states: The states in which the transitions of the mini-batch start, shape (batch, n).
            complete: From the network's outputs at these states to packed transitions. A simulated
                transition needs an action of the policy, so the outputs serve two purposes.
            update_count: The number of updates including this one (the paper's n_tau).
            planned: Simulated transitions in addition, if any.
            key: A random key.

        Returns:
            The new state; the temporal-difference errors of shape (batch,), which are NaN for
            transitions that are not learned from; and what `complete` said about that.

        """

    def targets_of(
        self,
        state: LearnerState,
        outputs: Float[Array, "all o"],
        complete: Complete,
        planned: Planned | None,
        key: PRNGKeyArray,
    ) -> Targets:
        """The targets of an update, from the network's outputs at all states in which it learns."""
        count = len(outputs) - (0 if planned is None else len(planned.states))
        rows, usable = complete(outputs[:count])
        continuous = len(self.bound_space.action_low)
        batch = jax.vmap(lambda row: Transition.unpack(row, continuous))(rows)
        targets = self.targets(rows, self.bootstrap(state, batch.next_state, key))
        if planned is None:
            return Targets(batch.action, targets, None, usable)
        return Targets(
            jnp.concatenate([batch.action, planned.actions]),
            jnp.concatenate([targets, planned.targets]),
            jnp.concatenate([jnp.ones(count), planned.weights]),
            usable,
        )

    @staticmethod
    def learnable(errors: Float[Array, "*batch"], usable: Usable) -> Float[Array, "*batch"]:
        """The errors to learn from: zero for transitions that are not usable."""
        # Not `where(usable, ...)`: with one more input the compiled program adds in another order,
        # and its last digits change.
        return errors if usable is None else jnp.where(jnp.isfinite(errors), errors, 0.0)

    def init(self, key: PRNGKeyArray) -> LearnerState:
        """The initial networks, a copy as target networks, and the initial optimiser state."""
        params = self.init_parameters(key)
        # A separate copy: a donated state must not contain the same buffer twice.
        return LearnerState(params, params.copy(), self._optimizer.init(params))

    def init_parameters(self, key: PRNGKeyArray) -> Float[Array, " p"]:
        """The parameters of the initial networks."""
        return flat_network(init_network(key, self.sizes))

    def network(self, params: Float[Array, " p"]) -> Network:
        """The network that acts, with the parameters of a flat vector of shape (p,)."""
        activation = ACTIVATIONS[self.activation]
        return network_from_flat(params, self.sizes, activation, self.layer_norm)

    def policy_network(self, network: Network) -> Network:
        """The network that acts, with only those outputs that a greedy action needs."""
        return network

    def with_first_layers(
        self, params: Float[Array, " p"], change: Callable[[FirstLayer], FirstLayer]
    ) -> Float[Array, " p"]:
        """The parameters with other weights of the observation, and biases, in each first layer."""
        return flat_network(self.network(params).with_first_layer(change))

    def metrics(self, state: LearnerState) -> dict[str, Float[Array, ""]]:
        """What a run records at an evaluation, by name."""
        return {}

    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy."""
        explore_key, action_key = jax.random.split(key)
        exploration = self.draw_exploration((explore_key, action_key), (), epsilon)
        return self.select_action(self.network(params)(state), exploration)

    def after_gradient(
        self,
        state: LearnerState,
        gradient: Float[Array, " p"],
        update_count: Int[Array, ""],
        factors: Float[Array, " p"] | None = None,
    ) -> LearnerState:
        """Take one Adam step, times factors if there are some, and move the target networks."""
        if self.max_gradient_norm is not None:
            gradient = clip_norm(gradient, self.max_gradient_norm)
        step, optimizer = self._optimizer.update(gradient, state.optimizer)
        params = state.params + (step if factors is None else factors * step)
        return LearnerState(params, self.moved_target(state, params, update_count), optimizer)

    def targets(
        self, rows: Float[Array, "batch width"], next_values: Float[Array, " batch"]
    ) -> Float[Array, " batch"]:
        """R + γ V(s') of packed transitions; V(s') counts as far as the last column is below 1."""
        rewards, left = rows[:, -2], 1 - rows[:, -1]
        return rewards + self.discount * jnp.where(left > 0, left * next_values, 0.0)

    def moved_target(
        self, state: LearnerState, params: Float[Array, " p"], update_count: Int[Array, ""]
    ) -> Float[Array, " p"]:
        """The parameters of the target networks after an update."""
        target = state.target_params
        moved = jnp.where(
            self.target_rate < 1, target + self.target_rate * (params - target), params
        )
        return jnp.where(update_count % self.target_period == 0, moved, target)

    @property
    def _optimizer(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate)


def clip_norm(
    gradient: Float[Array, " p"], greatest: float | Float[Array, ""]
) -> Float[Array, " p"]:
    """The gradient, scaled to the Euclidean norm `greatest` if it is longer."""
    norm = jnp.linalg.norm(gradient)
    return gradient * jnp.where(norm > greatest, greatest / norm, 1.0)


class OneNetwork(Learner):
    """A network whose outputs at a state say all about Q there; a subclass interprets them."""

    @abc.abstractmethod
    def slope(
        self,
        outputs: Float[Array, "batch o"],
        actions: Shaped[Array, "batch ..."],
        targets: Float[Array, " batch"],
        usable: Usable,
    ) -> tuple[Float[Array, "batch o"], Float[Array, " batch"]]:
        """The derivative of the mean loss with respect to the network's outputs at some states.

        Also returns the temporal-difference errors, targets − Q(s, a).
        """

    def update(
        self,
        state: LearnerState,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
        planned: Planned | None,
        key: PRNGKeyArray,
    ) -> tuple[LearnerState, Float[Array, " batch"], Usable]:
        """See `Learner.update`."""
        count = len(states)
        starts = states if planned is None else jnp.concatenate([states, planned.states])
        outputs, pull_back = jax.vjp(
            lambda network: jax.vmap(network)(starts), self.network(state.params)
        )
        actions, targets, weights, usable = self.targets_of(state, outputs, complete, planned, key)
        slope, differences = self.slope(outputs, actions, targets, usable)
        if weights is not None:
            # A mean over the stored transitions: without weight, planned ones change nothing.
            slope = slope * (len(weights) / count * weights)[:, None]
        (gradient,) = pull_back(slope)
        after = self.after_gradient(state, flat_network(gradient), update_count)
        return after, differences[:count], usable


RandomAction = tuple[
    Bool[Array, "*shape"], Int[Array, "*shape"], Float[Array, "*shape actions"] | None
]
"""Whether each action is random, the random action, and numbers that decide between ties."""
ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""The relative difference up to which action values count as equal."""


class DQN(OneNetwork):
    """Deep Q-learning with Adam, for discrete actions."""

    double: bool = eqx.field(static=True, default=True)
    """Whether the network chooses the action in the target, and the target network only evaluates
    it (double Q-learning)."""
    ties: Literal["random", "first"] = eqx.field(static=True, default="random")
    """The greedy action among those whose values are equal up to rounding: "random" is any of them,
    "first" the first one with the highest value, which then depends on how a processor rounds."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Layer widths, from the observation size to the number of actions."""
        return self.bound_space.observation_size, *self.hidden, self.bound_space.num_actions

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
        lots = None
        if self.ties == "random":
            lots = jax.random.uniform(jax.random.fold_in(keys[0], 1), (*shape, self.sizes[-1]))
        return explores, jax.random.randint(keys[1], shape, 0, self.sizes[-1]), lots

    def select_action(
        self, outputs: Float[Array, " actions"], exploration: RandomAction
    ) -> Int[Array, ""]:
        """The greedy or the random action; see `Learner.select_action`."""
        explore, random_action, lots = exploration
        if lots is not None:
            best = outputs.max()
            outputs = jnp.where(outputs >= best - ROUNDING * jnp.abs(best), lots, -1.0)
        return jnp.where(explore, random_action, unrolled.argmax(outputs))

    def bootstrap(
        self,
        state: LearnerState,
        next_states: Float[Array, "batch n"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, " batch"]:
        """max_a Q'(s', a), or Q'(s', argmax_a Q(s', a)) for double Q-learning."""
        values = jax.vmap(self.network(state.target_params))(next_states)
        if not self.double:
            return values.max(-1)
        choices = jax.vmap(self.network(state.params))(next_states)
        best = jax.vmap(unrolled.argmax)(choices)
        chosen = jnp.arange(values.shape[1]) == best[:, None]
        return unrolled.total(jnp.where(chosen, values, 0.0))

    def slope(
        self,
        outputs: Float[Array, "batch actions"],
        actions: Int[Array, " batch"],
        targets: Float[Array, " batch"],
        usable: Usable,
    ) -> tuple[Float[Array, "batch actions"], Float[Array, " batch"]]:
        """In closed form: only the output of the action taken has one; see `OneNetwork.slope`."""
        taken = jnp.arange(outputs.shape[1]) == actions[:, None]
        differences = targets - unrolled.total(jnp.where(taken, outputs, 0.0))
        errors = self.learnable(differences, usable)
        return jnp.where(taken, loss_slope(self.loss, errors[:, None]), 0.0), differences


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
        """Interpret the network's outputs."""
        value, best, entries = outputs[0], outputs[1 : 1 + action_size], outputs[1 + action_size :]
        rows, columns = np.tril_indices(action_size)
        entries = jnp.where(rows == columns, jax.nn.softplus(entries), entries)
        factor = jnp.zeros((action_size, action_size)).at[rows, columns].set(entries)
        return Advantage(value, jnp.tanh(best), factor)

    def q(self, action: Float[Array, " a"]) -> Float[Array, ""]:
        """Q(s, a) of a scaled action."""
        return self.value - jnp.sum((self.factor.T @ (action - self.best)) ** 2)


class NAF(OneNetwork):
    """Normalized advantage functions with Adam and a target network that is updated slowly."""

    hidden: Widths = eqx.field(static=True, default=(64, 64))
    activation: Literal["tanh", "relu", "silu"] = eqx.field(static=True, default="tanh")
    layer_norm: bool = eqx.field(static=True, default=False)
    loss: Loss = eqx.field(static=True, default="squared")
    learning_rate: NotNegative = 1e-3
    n_step: Count = eqx.field(static=True, default=1)
    agent_defaults: ClassVar[Mapping[str, Any]] = {
        **{"acting_network": "online", "scale_observations": False},
    }

    @property
    def sizes(self) -> tuple[int, ...]:
        """Layer widths, from the observation size to the number of outputs."""
        space = self.bound_space
        return space.observation_size, *self.hidden, output_size(space.action_size)

    def policy_network(self, network: Network) -> Network:
        """Only μ before the tanh; see `Learner.policy_network`."""
        return network.with_outputs(slice(1, 1 + self.bound_space.action_size))

    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s): the network with only its first output."""
        return StateValue(self.network(params).with_outputs(slice(0, 1)))

    def action_value(
        self, params: Float[Array, " p"], state: Float[Array, " n"], action: Float[Array, " a"]
    ) -> Float[Array, ""]:
        """Q(s, a), quadratic in the action; see `Learner.action_value`."""
        scaled = self.bound_space.scaled_action(action)
        return Advantage.of(self.network(params)(state), len(action)).q(scaled)

    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> ActionNoise:
        """Gaussian noise with standard deviation `epsilon`; if it is 1, uniform actions.

        The standard deviation is relative to half the range; see `Learner.draw_exploration`.
        """
        size = (*shape, self.bound_space.action_size)
        noise = epsilon * jax.random.normal(keys[0], size)
        anywhere = jax.random.uniform(keys[1], size, minval=-1.0)
        return noise, anywhere, jnp.broadcast_to(jnp.asarray(epsilon) >= 1, shape)

    def select_action(
        self, outputs: Float[Array, " o"], exploration: ActionNoise
    ) -> Float[Array, " a"]:
        """μ(s) plus noise, clipped to the bounds, or the random action."""
        noise, anywhere, at_random = exploration
        best = Advantage.of(outputs, len(noise)).best
        scaled = jnp.where(at_random, anywhere, jnp.clip(best + noise, -1, 1))
        return self.bound_space.unscaled_action(scaled)

    def bootstrap(
        self,
        state: LearnerState,
        next_states: Float[Array, "batch n"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, " batch"]:
        """V(s') of the target network."""
        return jax.vmap(self.value(state.target_params))(next_states)

    def slope(
        self,
        outputs: Float[Array, "batch o"],
        actions: Float[Array, "batch a"],
        targets: Float[Array, " batch"],
        usable: Usable,
    ) -> tuple[Float[Array, "batch o"], Float[Array, " batch"]]:
        """By automatic differentiation; see `OneNetwork.slope`."""
        scaled = self.bound_space.scaled_action(actions)

        def loss(
            outputs: Float[Array, "batch o"],
        ) -> tuple[Float[Array, ""], Float[Array, " batch"]]:
            q = jax.vmap(lambda o, a: Advantage.of(o, len(a)).q(a))(outputs, scaled)
            errors = self.learnable(targets - q, usable)
            return jnp.mean(losses(self.loss, errors)), targets - q

        return jax.grad(loss, has_aux=True)(outputs)
