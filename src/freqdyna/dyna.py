"""The Dyna agent: an environment, a value learner and a replay, composed, and its step.

Everything here is written for one seed. A step is a pure function of the agent's state and the
time t; every random number comes from the seed's key folded with t, so a seed draws the same
streams whatever runs beside it.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.envs.base import Environment
from freqdyna.learners.dqn import DQN, DQNState
from freqdyna.replay.base import Replay
from freqdyna.replay.transition import Transition, row_width

NEVER = -1


class Diagnostics(eqx.Module):
    """Sums since the last evaluation, and what is counted from the start."""

    squared_difference: Float[Array, ""]
    """Sum over updates of the mini-batch's mean squared temporal difference."""
    updates: Int[Array, ""]
    episodes: Int[Array, ""]
    """Training episodes finished since the start."""
    diverged_at: Int[Array, ""]
    """The step at which the loss first was not finite, or NEVER."""

    @staticmethod
    def zero() -> "Diagnostics":
        """Nothing seen yet."""
        none = jnp.zeros((), int)
        return Diagnostics(jnp.zeros(()), none, none, jnp.full((), NEVER))

    def since_now(self) -> "Diagnostics":
        """The same with the sums since the last evaluation set to zero."""
        return Diagnostics(jnp.zeros(()), jnp.zeros((), int), self.episodes, self.diverged_at)


class DynaState(eqx.Module):
    """All that one seed's training carries from step to step."""

    key: PRNGKeyArray
    """The seed's training stream; constant, folded with the time of each step."""
    observation: Float[Array, " n"]
    episode_step: Int[Array, ""]
    learner: DQNState
    replay: Any
    """The state of the agent's `Replay`."""
    diagnostics: Diagnostics


class Dyna(eqx.Module):
    """The parts of an agent and the numbers that say how they work together."""

    env: Environment
    learner: DQN
    replay: Replay[Any]
    batch_size: int = eqx.field(static=True)
    """Transitions in a mini-batch (the paper's b)."""
    planning_steps: int = eqx.field(static=True)
    """Updates for each step in the environment (the paper's d)."""
    exploration: float
    """The share of random actions after the warm-up (epsilon)."""
    warmup_steps: int
    """First steps, in which every action is random."""
    first_update_step: int
    """The step from which on there are planning updates."""

    def init(self, key: PRNGKeyArray) -> DynaState:
        """The state before the first step."""
        step_key, reset_key, learner_key = jax.random.split(key, 3)
        return DynaState(
            key=step_key,
            observation=self.env.reset(reset_key),
            episode_step=jnp.zeros((), int),
            learner=self.learner.init(learner_key),
            replay=self.replay.init(row_width(self.env.observation_size)),
            diagnostics=Diagnostics.zero(),
        )

    def step(self, state: DynaState, t: Int[Array, ""]) -> DynaState:
        """Act, store, plan. `t` counts the steps taken before this one."""
        act_key, env_key, reset_key, plan_key = jax.random.split(
            jax.random.fold_in(state.key, t), 4
        )

        epsilon = jnp.where(t < self.warmup_steps, 1.0, self.exploration)
        action = self.learner.act(state.learner.params, state.observation, epsilon, act_key)
        next_state, reward, terminal = self.env.transition(state.observation, action, env_key)
        row = Transition(state.observation, action, reward, next_state, terminal).pack()
        replay = self.replay.add(state.replay, row, t)

        episode_step = state.episode_step + 1
        over = terminal | (episode_step >= self.env.episode_limit)
        state = DynaState(
            key=state.key,
            observation=jnp.where(over, self.env.reset(reset_key), next_state),
            episode_step=jnp.where(over, 0, episode_step),
            learner=state.learner,
            replay=replay,
            diagnostics=eqx.tree_at(
                lambda d: d.episodes, state.diagnostics, state.diagnostics.episodes + over
            ),
        )
        return self._plan(state, t, plan_key)

    def _plan(self, state: DynaState, t: Int[Array, ""], key: PRNGKeyArray) -> DynaState:
        """The d planning updates; none before `first_update_step`."""
        bits = jax.random.bits(key, (self.planning_steps, self.batch_size))
        updates_before = (t - self.first_update_step) * self.planning_steps

        def update(
            i: Int[Array, ""], carry: tuple[DQNState, Any, Float[Array, ""]]
        ) -> tuple[DQNState, Any, Float[Array, ""]]:
            learner, replay, loss = carry
            rows, indices = self.replay.sample(replay, bits[i], t + 1)
            learner, differences = self.learner.update(learner, rows, updates_before + i + 1)
            replay = self.replay.learned(replay, indices, differences)
            return learner, replay, loss + jnp.mean(differences**2)

        # A loop of no turns, rather than a branch: t is the same for all seeds, and so is this.
        turns = jnp.where(t < self.first_update_step, 0, self.planning_steps)
        learner, replay, loss = jax.lax.fori_loop(
            0, turns, update, (state.learner, state.replay, jnp.zeros(()))
        )

        seen = state.diagnostics
        first_bad = ~jnp.isfinite(loss) & (seen.diverged_at == NEVER)
        diagnostics = Diagnostics(
            squared_difference=seen.squared_difference + loss,
            updates=seen.updates + turns,
            episodes=seen.episodes,
            diverged_at=jnp.where(first_bad, t + 1, seen.diverged_at),
        )
        return DynaState(
            state.key, state.observation, state.episode_step, learner, replay, diagnostics
        )
