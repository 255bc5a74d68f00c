"""Planning: the model is learned from the replay buffer, and the network from what it simulates.

With trust "always", simulated transitions are drawn by `Simulation` as in the paper. Otherwise
`imagine` plans all transitions of a step at once, and each counts as far as it is trusted.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped, UInt32

from freqdyna.agents.dyna.scale import ObservationScale
from freqdyna.agents.dyna.state import Buffers, DynaState, Queue
from freqdyna.agents.learners import Learner, LearnerState, Planned, Usable
from freqdyna.agents.models.base import Model, squared_distance
from freqdyna.agents.replay import ReplayBuffer, ReplayState, n_step_rows
from freqdyna.agents.trust import Always, Prediction, Trust
from freqdyna.config import Component, Count, Share
from freqdyna.core.errors import note_where
from freqdyna.envs.space import Action, Space, Transition
from freqdyna.search_control.base import SearchControl


class Planning(Component, eqx.Module):
    """The search-control, the model, and how much is simulated."""

    search_control: SearchControl
    model: Model[Any]
    trust: Trust[Any]
    simulated: int = eqx.field(static=True)
    """Simulated transitions per mini-batch (βb)."""
    simulated_share: Share = eqx.field(static=True, default=0.5)
    """The simulated transitions per mini-batch, relative to its size (β). With trust "always" they
    are part of it, otherwise they come on top."""
    queue_size: Count = eqx.field(static=True, default=100_000)
    """The capacity of the search-control queue, in states."""
    exploration: Share = 0.1
    """Like the agent's exploration, for the actions that are paired with queue states."""
    model_updates: Count = eqx.field(static=True, default=1)
    """Updates per environment step of a model that learns, each with its own mini-batch."""

    rollout_length: Count = eqx.field(static=True, default=1)
    """Steps that are simulated from a state of the queue; each counts as far as all before it are
    trusted. Not with trust "always"."""

    @property
    def weighs(self) -> bool:
        """Whether simulated transitions come on top of a mini-batch, with weights."""
        return type(self.trust) is not Always

    def scaled(self, scale: ObservationScale | None) -> "Planning":
        """The planning whose model sees observations as the network does; None for as they are."""
        if scale is None:
            return self
        scaled = self.model.with_scale(scale.centre, scale.half)
        return eqx.tree_at(lambda planning: planning.model, self, scaled)

    def empty_queue(self, space: Space) -> Queue:
        """The queue before the first step."""
        return Queue.empty(self.queue_size, space, self.search_control.proposes_actions)

    def memory(self, space: Space, key: PRNGKeyArray) -> Any:
        """The memory of the search-control before the first step."""
        with note_where(
            f"{type(self.search_control).__name__}.init must return a pytree of arrays"
        ):
            return jax.tree.map(jnp.asarray, self.search_control.init(space, key))


def learn_model(
    planning: Planning,
    state: DynaState,
    buffers: Buffers,
    transition: Transition,
    key: PRNGKeyArray,
) -> DynaState:
    """Compare the model with the new transition, then train it on the replay buffer."""
    model = planning.model
    if not model.learn_batch:
        return state
    error = model.error(state.model, transition, buffers.space)
    change = squared_distance(transition.state, transition.next_state, buffers.space)
    updates, size = planning.model_updates, model.learn_batch
    rows = buffers.rows(jax.random.bits(key, (updates * size,), jnp.uint32))
    continuous = len(buffers.space.action_low)

    def learn(i: Int[Array, ""], model_state: Any) -> Any:
        chosen = rows if updates == 1 else jax.lax.dynamic_slice_in_dim(rows, i * size, size)
        batch = jax.vmap(lambda row: Transition.unpack(row, continuous))(chosen)
        return model.learn(model_state, batch)

    turns = jnp.where(buffers.t + 1 < size, 0, updates)
    learned = jax.lax.fori_loop(0, turns, learn, state.model)
    sums = state.diagnostics
    sums = replace(sums, model_error=sums.model_error + jnp.stack([error, change]))
    return replace(state, model=learned, diagnostics=sums)


def predict(
    planning: Planning,
    learner: Learner,
    state: DynaState,
    scale: ObservationScale | None,
    states: Float[Array, "k n"],
    actions: Shaped[Array, "k ..."],
    key: PRNGKeyArray,
) -> tuple[Prediction, Float[Array, "k n"], Float[Array, " k"]]:
    """What the model and the network say about actions in states; every array has k rows.

    Also the next states of the model's first answer, and how probable it is that they are terminal.
    """
    model, seen = planning.model, scale or (lambda s: s)
    keys = jax.random.split(key, len(states))
    ask = jax.vmap(partial(model.two_outcomes, state.model))
    next_states, rewards, ends = ask(states, actions, keys)
    after, value_key = next_states.reshape(-1, states.shape[1]), jax.random.fold_in(key, 1)
    values = learner.bootstrap(state.learner, seen(after), value_key).reshape(rewards.shape)
    targets = rewards + learner.discount * (1 - ends.astype(float)) * values
    disagreement = jnp.zeros(len(states))
    if model.has_disagreement:
        disagreement = jax.vmap(partial(model.disagreement, state.model))(states, actions)
    action_value = jax.vmap(partial(learner.action_value, state.learner.params))
    predicted = Prediction(
        state=states,
        action=actions,
        target=targets.mean(1),
        variance=targets.var(1, ddof=1),
        disagreement=disagreement,
        action_value=action_value(seen(states), actions),
        state_value=learner.bootstrap(state.learner, seen(states), value_key),
        discount=jnp.full(len(states), learner.discount),
    )
    return predicted, next_states[:, 0], ends[:, 0].astype(float)


def check_prediction(
    planning: Planning,
    learner: Learner,
    state: DynaState,
    scale: ObservationScale | None,
    transition: Transition,
    t: Int[Array, ""],
    key: PRNGKeyArray,
) -> DynaState:
    """Let the trust compare what the model predicts with a new transition, once it has learned."""
    states, next_states = transition.state[None], transition.next_state[None]
    actions = transition.action[None]
    predicted, *_ = predict(planning, learner, state, scale, states, actions, key)
    next_seen = next_states if scale is None else scale(next_states)
    value = learner.bootstrap(state.learner, next_seen, jax.random.fold_in(key, 2))
    target = learner.targets(transition.pack()[None], value)[0]
    one = jax.tree.map(lambda x: x[0], predicted)
    observed = planning.trust.observe(state.trust, one, transition, target)
    learned = t >= planning.model.learn_batch
    kept = jax.tree.map(lambda new, old: jnp.where(learned, new, old), observed, state.trust)
    return replace(state, trust=kept)


def imagine(
    planning: Planning,
    learner: Learner,
    state: DynaState,
    scale: ObservationScale | None,
    buffers: Buffers,
    updates: int,
    key: PRNGKeyArray,
) -> tuple[Planned, Bool[Array, "d k"]]:
    """The planned transitions of all updates of a step, and which of them are finite.

    Actions, targets and weights are those of the networks before the first update. That is one
    large batch, and the target network moves little in a step.
    """
    shape, seen = (updates, planning.simulated), scale or (lambda s: s)
    state_key, *keys = jax.random.split(key, 4)
    number = updates * planning.simulated
    bits = jax.random.bits(state_key, (-(-number // planning.rollout_length),), jnp.uint32)
    states, reached, steps = buffers.queued(bits), jnp.ones(len(bits)), []
    for i in range(planning.rollout_length):
        explore_key, action_key, model_key = keys
        if i == 0 and planning.search_control.proposes_actions:
            actions = buffers.queued_actions(bits)
        else:
            outputs = jax.vmap(learner.network(state.learner.params))(seen(states))
            exploration = learner.draw_exploration(
                (explore_key, action_key), bits.shape, planning.exploration
            )
            actions = jax.vmap(learner.select_action)(outputs, exploration)
        predicted, after, ends = predict(
            planning, learner, state, scale, states, actions, model_key
        )
        targets, weights = jax.vmap(partial(planning.trust.judge, state.trust))(predicted)
        finite = jnp.isfinite(targets) & jnp.isfinite(weights)
        weights = jnp.where(finite, reached * jnp.clip(weights, 0.0, 1.0), 0.0)
        planned = Planned(
            states=jnp.where(finite[:, None], seen(states), 0.0),
            actions=actions,
            targets=jnp.where(finite, targets, 0.0),
            weights=weights,
        )
        steps.append((planned, finite))
        goes_on = jnp.isfinite(after).all(1) & jnp.isfinite(ends)
        states = jnp.where(goes_on[:, None], after, states)
        reached = jnp.where(goes_on, weights * (1 - ends), 0.0)
        keys = [jax.random.fold_in(key, i + 1) for key in keys]
    # The steps of a rollout follow one another, so that a mini-batch has steps of all depths.
    together = jax.tree.map(
        lambda *x: jnp.stack(x, 1).reshape(-1, *x[0].shape[1:])[:number], *steps
    )
    rows: tuple[Planned, Array] = jax.tree.map(lambda x: x.reshape(*shape, *x.shape[1:]), together)
    return rows


class Simulation(eqx.Module):
    """The states and random numbers of all simulated transitions of a step.

    Everything is drawn before the updates; only the greedy actions depend on the network.
    """

    learner: Learner
    model: Model[Any]
    model_state: Any
    states: Float[Array, "d k n"]
    """Sampled from the search-control queue: k for each of the d updates."""
    exploration: Any
    """The learner's random numbers for actions, shape (d, k)."""
    noise: Float[Array, "d k z"]
    actions: Shaped[Array, "d k ..."] | None = None
    """The actions of the states, if the search-control proposes pairs; else the policy chooses."""

    @staticmethod
    def draw(
        planning: Planning,
        model_state: Any,
        buffers: Buffers,
        learner: Learner,
        updates: int,
        key: PRNGKeyArray,
    ) -> "Simulation":
        """Draw the states and random numbers of the updates of one step."""
        shape = updates, planning.simulated
        state_key, explore_key, action_key, noise_key = jax.random.split(key, 4)
        bits = jax.random.bits(state_key, (updates * planning.simulated,), jnp.uint32)
        states, actions = buffers.queued(bits), None
        if planning.search_control.proposes_actions:
            actions = buffers.queued_actions(bits)
            actions = actions.reshape(*shape, *actions.shape[1:])
        return Simulation(
            learner=learner,
            model=planning.model,
            model_state=model_state,
            states=states.reshape(*shape, -1),
            exploration=learner.draw_exploration(
                (explore_key, action_key), shape, planning.exploration
            ),
            noise=jax.random.normal(noise_key, (*shape, planning.model.noise_size)),
            actions=actions,
        )

    def transitions(
        self, i: Int[Array, ""], outputs: Float[Array, "k outputs"]
    ) -> Float[Array, "k width"]:
        """The packed transitions of update i, from the network's outputs at its states.

        The reward of one that is not finite is NaN.
        """

        def transition(
            s: Float[Array, " n"],
            exploration: Any,
            noise: Float[Array, " z"],
            output: Float[Array, " outputs"],
            proposed: Action | None,
        ) -> Float[Array, " width"]:
            action = proposed
            if action is None:
                action = self.learner.select_action(output, exploration)
            next_state, reward, terminal = self.model.query(self.model_state, s, action, noise)
            if not self.model.is_always_finite:
                finite = jnp.isfinite(next_state).all() & jnp.isfinite(reward)
                reward = jnp.where(finite, reward, jnp.nan)
            return Transition(s, action, reward, next_state, terminal).pack()

        exploration = jax.tree.map(lambda drawn: drawn[i], self.exploration)
        proposed = None if self.actions is None else self.actions[i]
        return jax.vmap(transition)(self.states[i], exploration, self.noise[i], outputs, proposed)

    def mini_batch(
        self, real: Float[Array, "r width"], simulated: Float[Array, "k width"]
    ) -> tuple[Float[Array, "batch width"], Usable]:
        """Real and simulated transitions, and which of them are finite.

        None stands for all, if the model guarantees that its transitions are finite.
        """
        rows = jnp.concatenate([real, simulated])
        if self.model.is_always_finite:
            return rows, None
        finite = jnp.isfinite(simulated[:, -2])  # the rewards
        return rows, jnp.concatenate([jnp.ones(len(real), bool), finite])


class Progress(NamedTuple):
    """What the updates of a step change."""

    learner: LearnerState
    replay: ReplayState
    """The replay buffer, whose priorities change."""
    loss: Float[Array, ""]
    """The sum of the losses of the updates so far."""
    skipped: Int[Array, ""]
    """The number of simulated transitions that were not learned from."""


def update(
    learner: Learner,
    replay: ReplayBuffer,
    simulation: Simulation | Planned | None,
    scale: ObservationScale | None,
    progress: Progress,
    bits: UInt32[Array, " real"],
    i: Int[Array, ""],
    t: Int[Array, ""],
    update_count: Int[Array, ""],
    key: PRNGKeyArray,
) -> Progress:
    """Update the network on a mini-batch of stored and simulated transitions.

    It is update i of the step after `t` others, and number `update_count` of all. One transition is
    sampled from the replay buffer for each word of random bits; the others are simulated.
    """
    rows, indices = replay.sample(progress.replay, bits, t + 1)
    n, real = learner.sizes[0], len(bits)
    if learner.n_step > 1:
        rows = n_step_rows(
            progress.replay.rows, indices, t + 1, learner.n_step, learner.discount, n
        )
    states, planned = rows[:, :n], None
    if isinstance(simulation, Planned):
        planned, simulation = jax.tree.map(lambda x: x[i], simulation), None
    if simulation is not None:
        states = jnp.concatenate([states, simulation.states[i]])
    if scale is not None:
        states = scale(states)

    def complete(
        outputs: Float[Array, "batch outputs"],
    ) -> tuple[Float[Array, "batch width"], Usable]:
        batch, usable = rows, None
        if simulation is not None:
            simulated = simulation.transitions(i, outputs[real:])
            batch, usable = simulation.mini_batch(rows, simulated)
        return batch if scale is None else scale.of_rows(batch), usable

    after, differences, usable = learner.update(
        progress.learner, states, complete, update_count, planned, key
    )
    stored = replay.update_priorities(progress.replay, indices, differences[:real])
    loss = jnp.mean(learner.learnable(differences, usable) ** 2)
    skipped = progress.skipped
    if usable is not None:
        skipped = skipped + (~usable).sum()
        # What is skipped must not hide that the network diverged.
        diverged = (usable & ~jnp.isfinite(differences)).any()
        loss = jnp.where(diverged, jnp.nan, loss)
    return Progress(after, stored, progress.loss + loss, skipped)
