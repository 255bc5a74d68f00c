"""Tabular Dyna-Q: the paper's generic Dyna, planning from random pairs visited before."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.base import Agent, AgentState
from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.agents.exploration import LinearSchedule
from freqdyna.agents.tabular.count_model import CountModel
from freqdyna.agents.tabular.q_table import QTable
from freqdyna.config import Component, CountOrZero, NotNegative, Share
from freqdyna.envs.base import Environment

EPISODES_KEPT = 100


class TabularState(AgentState):
    """The training state of one seed."""

    key: PRNGKeyArray
    observation: Float[Array, " n"]
    episode_step: Int[Array, ""]
    table: QTable
    model: CountModel
    episode_lengths: Int[Array, " episodes"]
    """Lengths of the first training episodes; zero for those not completed."""
    diagnostics: Diagnostics


class QLearning(Component, eqx.Module):
    """How the table learns."""

    learning_rate: NotNegative = 0.1
    """The weight of a new target in the table."""
    discount: Share = 0.99
    """The discount factor (gamma)."""


class TabularDyna(Component, Agent[TabularState]):
    """Tabular Dyna-Q; every integer state within the bounds is a cell of the table."""

    env: Environment
    learner: QLearning
    planning_steps: CountOrZero = eqx.field(static=True, default=10)
    """Planning updates per environment step."""
    exploration: Share = 0.1
    """The probability of a random action (epsilon)."""
    exploration_initial: Share = 1.0
    """The amount of exploration from which a linear schedule starts; see exploration_fraction."""
    exploration_fraction: Share = 0.0
    """The fraction of all steps during which exploration changes linearly from exploration_initial
    to exploration; 0 for no schedule."""
    schedule: LinearSchedule | None = None
    """The schedule of exploration in a run of so many steps; None for a constant."""

    def init(self, key: PRNGKeyArray) -> TabularState:
        """The state before the first step."""
        step_key, reset_key = jax.random.split(key)
        table = self.init_table()
        return TabularState(
            key=step_key,
            observation=self.env.reset(reset_key),
            episode_step=jnp.zeros((), int),
            table=table,
            model=CountModel.empty(*table.values.shape),
            episode_lengths=jnp.zeros(EPISODES_KEPT, int),
            diagnostics=Diagnostics.zero(),
        )

    def init_table(self) -> QTable:
        """Zero for every cell and action."""
        return QTable(jnp.zeros((int(np.prod(self._shape)), self.env.num_actions)))

    def step(self, state: TabularState, t: Int[Array, ""]) -> TabularState:
        """Act, learn from the transition, update the model, and plan; see `Agent.step`."""
        keys = jax.random.split(jax.random.fold_in(state.key, t), 4)
        act_key, env_key, reset_key, plan_key = keys
        cell = self.cell(state.observation)
        explored = self.exploration if self.schedule is None else self.schedule(t)
        action = state.table.act(cell, explored, act_key)
        next_state, reward, terminal = self.env.transition(state.observation, action, env_key)
        seen = (cell, action, reward, self.cell(next_state), terminal)
        rates = self.learner.discount, self.learner.learning_rate
        table, difference = state.table.update(*seen, *rates)
        model = state.model.learn(*seen)

        fractions = jax.random.uniform(plan_key, (2, self.planning_steps))
        cells, choices = model.draw_seen(fractions[0])

        def plan(i: Int[Array, ""], table: QTable) -> QTable:
            outcome = model.query(cells[i], choices[i], fractions[1, i])
            return table.update(cells[i], choices[i], *outcome, *rates)[0]

        if self.planning_steps:
            table = jax.lax.fori_loop(0, self.planning_steps, plan, table)

        length = state.episode_step + 1
        over = terminal | (length >= self.env.episode_limit)
        # An index past the end, for an episode that is not over, is dropped.
        episode = jnp.where(over, state.diagnostics.episodes, EPISODES_KEPT)
        diagnostics = state.diagnostics.after_step(over)
        return TabularState(
            key=state.key,
            observation=jnp.where(over, self.env.reset(reset_key), next_state),
            episode_step=jnp.where(over, 0, length),
            table=table,
            model=model,
            episode_lengths=state.episode_lengths.at[episode].set(length, mode="drop"),
            diagnostics=diagnostics.after_updates(jnp.ones((), int), difference**2, t + 1),
        )

    def act(
        self,
        state: TabularState,
        observation: Float[Array, " n"],
        epsilon: float | Float[Array, ""],
        key: PRNGKeyArray,
    ) -> Int[Array, ""]:
        """The epsilon-greedy action of the current policy; see `Agent.act`."""
        return state.table.act(self.cell(observation), epsilon, key)

    def metrics(self, state: TabularState) -> dict[str, Array]:
        """Diagnostics since the last evaluation."""
        return state.diagnostics.metrics(searches=False, learns_model=False)

    def snapshot(
        self, state: TabularState, t: Int[Array, ""], key: PRNGKeyArray
    ) -> dict[str, Array]:
        """The table, the value of each cell, and the lengths of the training episodes."""
        return {
            "parameters": self.parameters(state),
            "value": state.table.values.max(axis=1).reshape(tuple(self._shape)),
            "episode_lengths": state.episode_lengths,
        }

    def parameters(self, state: TabularState) -> Float[Array, " p"]:
        """The table, row by row."""
        return state.table.values.reshape(-1)

    def with_parameters(self, state: TabularState, parameters: Float[Array, " p"]) -> TabularState:
        """Replace the table."""
        values = parameters.reshape(state.table.values.shape)
        return eqx.tree_at(lambda s: s.table.values, state, values)

    @property
    def layer_sizes(self) -> tuple[int, ...]:
        """Empty: there is no network."""
        return ()

    @property
    def _shape(self) -> np.ndarray:
        return np.round(self.env.high - self.env.low).astype(int) + 1

    def cell(self, state: Float[Array, " n"]) -> Int[Array, ""]:
        """The index of the cell that contains a state."""
        strides = np.append(np.cumprod(self._shape[:0:-1])[::-1], 1)
        coordinates = jnp.round(state - self.env.low).astype(int)
        return jnp.sum(coordinates * strides)
