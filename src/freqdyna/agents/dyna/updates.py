"""What is learned at each step: the model from the replay buffer, then the network by planning."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.dyna.draws import Draws
from freqdyna.agents.dyna.observation_scale import ObservationScale
from freqdyna.agents.dyna.simulation import Planning, Simulation
from freqdyna.agents.dyna.state import DynaState
from freqdyna.agents.learners.base import Learner, LearnerState, Usable
from freqdyna.agents.replay.base import Replay
from freqdyna.core.unrolled import repeat
from freqdyna.envs.transition import Transition


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
