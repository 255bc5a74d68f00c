"""Planning: what is simulated, and what is learned at each step, the model and then the network."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped, UInt32

from freqdyna.agents.dyna.scale import ObservationScale
from freqdyna.agents.dyna.state import Draws, DynaState, Queue
from freqdyna.agents.learners import Learner, LearnerState, Usable
from freqdyna.agents.models.base import Model
from freqdyna.agents.replay import Replay
from freqdyna.config import Component, Count, Share
from freqdyna.core.errors import note_where
from freqdyna.core.unrolled import repeat
from freqdyna.envs.space import Action, Space, Transition
from freqdyna.search_control.base import Draw, SearchControl


class Planning(Component, eqx.Module):
    """The search-control, the model, and how much is simulated."""

    search_control: SearchControl
    model: Model[Any]
    simulated: int = eqx.field(static=True)
    """Simulated transitions per mini-batch (βb): `simulated_share` of them."""
    simulated_share: Share = eqx.field(static=True, default=0.5)
    """The fraction of a mini-batch that is simulated by the model (β)."""
    queue_size: Count = eqx.field(static=True, default=100_000)
    """The capacity of the search-control queue, in states."""
    exploration: Share = 0.1
    """Like the agent's exploration, for the actions that are paired with queue states."""
    rollout_length: Count = eqx.field(static=True, default=1)
    """Steps of a simulated trajectory, from a queue state with the current policy. A mini-batch has
    as many simulated transitions as before, of fewer trajectories."""
    model_updates: Count = eqx.field(static=True, default=1)
    """Updates per environment step of a model that learns, each with its own mini-batch."""

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


class Simulation(eqx.Module):
    """The states and random numbers of all simulated transitions of a step.

    Everything is drawn before the updates; only the greedy actions depend on the network.
    """

    learner: Learner
    model: Model[Any]
    model_state: Any
    states: Float[Array, "d k n"]
    """Sampled from the search-control queue: k for each of the d updates; of trajectories of
    several steps only the first ones are used."""
    exploration: Any
    """The learner's random numbers for actions, shape (d, k)."""
    noise: Float[Array, "d k z"]
    actions: Shaped[Array, "d k ..."] | None = None
    """The actions of the states, if the search-control proposes pairs; else the policy chooses."""

    @staticmethod
    def draw(
        planning: Planning,
        model_state: Any,
        draw_queue: Draw,
        draw_actions: Callable[[UInt32[Array, " k"]], Shaped[Array, "k ..."]] | None,
        learner: Learner,
        updates: int,
        key: PRNGKeyArray,
    ) -> "Simulation":
        """Draw the states and random numbers of one step.

        Args:
            planning: The search-control, the model, and how much is simulated.
            model_state: The state of the model.
            draw_queue: Samples states from the queue.
            draw_actions: Samples the actions of these states; None if the policy chooses them.
            learner: Chooses the actions.
            updates: The number of mini-batches (d).
            key: A random key.

        """
        shape = updates, planning.simulated
        state_key, explore_key, action_key, noise_key = jax.random.split(key, 4)
        bits = jax.random.bits(state_key, (updates * planning.simulated,), jnp.uint32)
        drawn = draw_queue(bits)
        actions = None
        if draw_actions is not None:
            actions = draw_actions(bits)
            actions = actions.reshape(*shape, *actions.shape[1:])
        return Simulation(
            learner=learner,
            model=planning.model,
            model_state=model_state,
            states=drawn.reshape(*shape, -1),
            exploration=learner.draw_exploration(
                (explore_key, action_key), shape, planning.exploration
            ),
            noise=jax.random.normal(noise_key, (*shape, planning.model.noise_size)),
            actions=actions,
        )

    def transitions(
        self, i: Int[Array, ""], outputs: Float[Array, "k outputs"]
    ) -> Float[Array, "k width"]:
        """The simulated transitions of update i.

        Args:
            i: The index of the update, shape ().
            outputs: The current network's outputs at the states of that update, shape (k, outputs).

        Returns:
            Packed transitions, shape (k, width). The reward of one that is not finite is NaN.

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
            return self._transition(s, action, noise).pack()

        exploration = jax.tree.map(lambda drawn: drawn[i], self.exploration)
        proposed = None if self.actions is None else self.actions[i]
        return jax.vmap(transition)(self.states[i], exploration, self.noise[i], outputs, proposed)

    def trajectories(
        self, i: Int[Array, ""], network: Callable[[Float[Array, " n"]], Array], length: int
    ) -> Float[Array, "k width"]:
        """The simulated transitions of update i, as trajectories of several steps.

        The k transitions are those of ⌈k / length⌉ trajectories, one after the other; the last one
        is shorter if k is not a multiple of the length. Each starts in a state of the queue, and
        again there after a terminal state, or after a transition that is not finite.

        Args:
            i: The index of the update, shape ().
            network: From a state to the current network's outputs, which determine the actions.
            length: The number of steps of a trajectory.

        Returns:
            Packed transitions, shape (k, width). The reward of one that is not finite is NaN.

        """
        k = self.states.shape[1]
        steps = min(length, k)
        number = -(-k // steps)
        # Random numbers that are used twice belong to steps of the last trajectory beyond k.
        places = (np.arange(number * steps) % k).reshape(number, steps)
        drawn = jax.tree.map(lambda x: x[i][places], (self.exploration, self.noise))

        def trajectory(
            start: Float[Array, " n"], proposed: Action | None, drawn: Any
        ) -> Float[Array, "steps width"]:
            def step(at: Any, drawn: Any) -> tuple[Any, Float[Array, " width"]]:
                s, is_start = at
                exploration, noise = drawn
                action = self.learner.select_action(network(s), exploration)
                if proposed is not None:
                    action = jnp.where(is_start, proposed, action)
                seen = self._transition(s, action, noise)
                over = seen.terminal | ~jnp.isfinite(seen.reward)
                return (jnp.where(over, start, seen.next_state), over), seen.pack()

            return jax.lax.scan(step, (start, jnp.ones((), bool)), drawn)[1]

        proposed = None if self.actions is None else self.actions[i, :number]
        rows = jax.vmap(trajectory)(self.states[i, :number], proposed, drawn)
        return rows.reshape(number * steps, -1)[:k]

    def after(
        self, real: Float[Array, "r width"], simulated: Float[Array, "k width"]
    ) -> tuple[Float[Array, "batch width"], Usable]:
        """The mini-batch of real and simulated transitions, and which of them are finite.

        Args:
            real: Packed transitions from the replay buffer, shape (r, width).
            simulated: What `transitions` or `trajectories` returned, shape (k, width).

        Returns:
            Packed transitions, shape (r + k, width), and which of them to learn from; None for all,
            if the model guarantees that its transitions are finite.

        """
        rows = jnp.concatenate([real, simulated])
        if self.model.is_always_finite:
            return rows, None
        finite = jnp.isfinite(simulated[:, -2])  # the rewards
        return rows, jnp.concatenate([jnp.ones(len(real), bool), finite])

    def _transition(
        self, s: Float[Array, " n"], action: Action, noise: Float[Array, " z"]
    ) -> Transition:
        """The model's answer; if it is not finite, the reward is NaN."""
        next_state, reward, terminal = self.model.query(self.model_state, s, action, noise)
        if not self.model.is_always_finite:
            finite = jnp.isfinite(next_state).all() & jnp.isfinite(reward)
            reward = jnp.where(finite, reward, jnp.nan)
        return Transition(s, action, reward, next_state, terminal)


def learn_model(
    planning: Planning, state: DynaState, draws: Draws, seen: Transition, key: PRNGKeyArray
) -> DynaState:
    """Compare the model with the new transition, then train it on the replay buffer.

    Args:
        planning: The model, and how often it is updated.
        state: The state of the seed.
        draws: Samples from the replay buffer, in which the new transition is stored already.
        seen: The new transition.
        key: A random key.

    """
    model = planning.model
    if not model.learn_batch:
        return state
    error = model.error(state.model, seen, draws.space)
    updates, size = planning.model_updates, model.learn_batch
    rows = draws.rows(jax.random.bits(key, (updates * size,), jnp.uint32))
    continuous = len(draws.space.action_low)

    def learn(i: Int[Array, ""], model_state: Any) -> Any:
        own = rows if updates == 1 else jax.lax.dynamic_slice_in_dim(rows, i * size, size)
        batch = jax.vmap(lambda row: Transition.unpack(row, continuous))(own)
        return model.learn(model_state, batch)

    turns = jnp.where(draws.t + 1 < size, 0, updates)
    learned = jax.lax.fori_loop(0, turns, learn, state.model)
    diagnostics = state.diagnostics.after_prediction(error)
    return replace(state, model=learned, diagnostics=diagnostics)


class Updates(eqx.Module):
    """The planning updates of a step."""

    learner: Learner
    replay: Replay[Any]
    planning: Planning | None
    batch_size: int = eqx.field(static=True)
    number: int = eqx.field(static=True)
    """The number of updates (d)."""
    first_step: int = eqx.field(static=True)
    """The step at which they begin."""

    def __call__(
        self,
        state: DynaState,
        t: Int[Array, ""],
        draws: Draws | None,
        scale: ObservationScale | None,
        key: PRNGKeyArray,
    ) -> DynaState:
        """Make all updates; none before `first_step`.

        Args:
            state: The state of the seed.
            t: The number of steps taken before, shape ().
            draws: Samples from the queue; None without a search-control.
            scale: How the network sees observations; None for as they are.
            key: A random key.

        """
        n = state.observation.size
        planning = None if self.planning is None else self.planning.scaled(scale)
        simulated, length = (planning.simulated, planning.rollout_length) if planning else (0, 1)
        real = self.batch_size - simulated
        replay_key, simulation_key = jax.random.split(key)
        bits = jax.random.bits(replay_key, (self.number, self.batch_size), jnp.uint32)
        simulation = None
        if planning is not None and draws is not None and simulated:
            simulation = Simulation.draw(
                planning,
                state.model,
                draws.queued,
                draws.queued_actions if planning.search_control.proposes_actions else None,
                self.learner,
                self.number,
                simulation_key,
            )
        updates_before = (t - self.first_step) * self.number

        def seen_by_network(rows: Float[Array, "batch width"]) -> Float[Array, "batch width"]:
            return rows if scale is None else scale.of_rows(rows)

        def outputs_of(params: Float[Array, " p"]) -> Callable[[Float[Array, " n"]], Array]:
            network = self.learner.network(params)
            return network if scale is None else lambda s: network(scale(s))

        def update(
            i: Int[Array, ""], carry: tuple[LearnerState, Any, Float[Array, ""], Int[Array, ""]]
        ) -> tuple[LearnerState, Any, Float[Array, ""], Int[Array, ""]]:
            learner, replay, loss, skipped = carry
            rows, indices = self.replay.sample(replay, bits[i, :real], t + 1)
            states = rows[:, :n]
            trajectories = None
            if simulation is not None:
                starts = simulation.states[i]
                if length > 1:
                    trajectories = simulation.trajectories(i, outputs_of(learner.params), length)
                    starts = trajectories[:, :n]
                states = jnp.concatenate([states, starts])
            if scale is not None:
                states = scale(states)

            def complete(
                outputs: Float[Array, "batch outputs"],
            ) -> tuple[Float[Array, "batch width"], Usable]:
                if simulation is None:
                    return seen_by_network(rows), None
                simulated = trajectories
                if simulated is None:
                    simulated = simulation.transitions(i, outputs[real:])
                batch, usable = simulation.after(rows, simulated)
                return seen_by_network(batch), usable

            learner, differences, usable = self.learner.update(
                learner, states, complete, updates_before + i + 1
            )
            replay = self.replay.update_priorities(replay, indices, differences[:real])
            of_update = jnp.mean(self.learner.learnable(differences, usable) ** 2)
            if usable is not None:
                skipped = skipped + (~usable).sum()
                # What is skipped must not hide that the network diverged.
                diverged = (usable & ~jnp.isfinite(differences)).any()
                of_update = jnp.where(diverged, jnp.nan, of_update)
            return learner, replay, loss + of_update, skipped

        all_updates = partial(repeat, self.number, update)
        carry = state.learner, state.replay, jnp.zeros(()), jnp.zeros((), int)
        number = jnp.asarray(self.number)
        if self.first_step > 0:
            # A loop with 0 or 1 iterations instead of a branch: t is the same for all seeds.
            once = (t >= self.first_step).astype(int)
            carry = jax.lax.fori_loop(0, once, lambda _, c: all_updates(c), carry)
            number = once * number
        else:
            carry = all_updates(carry)
        learner, replay, loss, skipped = carry
        changed = learner, replay, state.diagnostics.after_updates(number, loss, t + 1, skipped)
        return eqx.tree_at(lambda s: (s.learner, s.replay, s.diagnostics), state, changed)
