"""Tabular Dyna-Q: the paper's generic Dyna, planning from random pairs visited before."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.base import Agent, AgentState, Diagnostics, linear_schedule
from freqdyna.config import Component, CountOrZero, NotNegative, Share
from freqdyna.envs.base import Environment


class QTable(eqx.Module):
    """One value for each cell and action."""

    values: Float[Array, "cells actions"]

    def act(
        self, cell: Int[Array, ""], epsilon: float | Float[Array, ""], key: PRNGKeyArray
    ) -> Int[Array, ""]:
        """The epsilon-greedy action; ties are broken at random."""
        explore_key, action_key, tie_key = jax.random.split(key, 3)
        row = self.values[cell]
        best = jnp.where(row == row.max(), jax.random.uniform(tie_key, row.shape), -1.0)
        random_action = jax.random.randint(action_key, (), 0, row.shape[0])
        explore = jax.random.uniform(explore_key) < epsilon
        return jnp.where(explore, random_action, jnp.argmax(best))

    def update(
        self,
        cell: Int[Array, ""],
        action: Int[Array, ""],
        reward: Float[Array, ""],
        next_cell: Int[Array, ""],
        terminal: Bool[Array, ""],
        discount: float | Float[Array, ""],
        learning_rate: float | Float[Array, ""],
    ) -> tuple["QTable", Float[Array, ""]]:
        """Update one value towards r + γ max Q(s', ·)."""
        bootstrap = jnp.where(terminal, 0.0, self.values[next_cell].max())
        difference = reward + discount * bootstrap - self.values[cell, action]
        values = self.values.at[cell, action].add(learning_rate * difference)
        return QTable(values), difference


class CountModel(eqx.Module):
    """Empirical transition probabilities and mean rewards."""

    counts: Float[Array, "cells actions cells"]
    """How often (cell, action) led to each cell."""
    rewards: Float[Array, "cells actions cells"]
    """Mean reward of those transitions."""
    terminal: Bool[Array, " cells"]
    """Whether each cell was terminal."""

    @staticmethod
    def empty(cells: int, actions: int) -> "CountModel":
        """The model before the first transition."""
        shape = (cells, actions, cells)
        return CountModel(jnp.zeros(shape), jnp.zeros(shape), jnp.zeros(cells, bool))

    def learn(
        self,
        cell: Int[Array, ""],
        action: Int[Array, ""],
        reward: Float[Array, ""],
        next_cell: Int[Array, ""],
        terminal: Bool[Array, ""],
    ) -> "CountModel":
        """Add one transition; all arguments have shape ()."""
        at = (cell, action, next_cell)
        counts = self.counts.at[at].add(1.0)
        rewards = self.rewards.at[at].add((reward - self.rewards[at]) / counts[at])
        return CountModel(counts, rewards, self.terminal.at[next_cell].set(terminal))

    def draw_seen(self, fractions: Float[Array, " k"]) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
        """Sample (cell, action) pairs uniformly from those visited."""
        seen = self.counts.sum(-1).reshape(-1) > 0
        pairs = _inverse(seen.astype(fractions.dtype), fractions)
        actions = self.counts.shape[1]
        return pairs // actions, pairs % actions

    def query(
        self, cell: Int[Array, ""], action: Int[Array, ""], fraction: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:
        """Sample an outcome with its empirical probability."""
        next_cell = _inverse(self.counts[cell, action], fraction)
        return self.rewards[cell, action, next_cell], next_cell, self.terminal[next_cell]


def _inverse(weights: Float[Array, " n"], fractions: Float[Array, "*k"]) -> Int[Array, "*k"]:
    """The indices at which the cumulative sum of the weights exceeds each fraction of the total."""
    sums = jnp.cumsum(weights)
    return jnp.searchsorted(sums, fractions * sums[-1], side="right")


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
    """The amount of exploration from which a linear schedule starts; see exploration_steps."""
    exploration_steps: CountOrZero = eqx.field(static=True, default=0)
    """The number of steps in which exploration changes linearly from exploration_initial to
    exploration; 0 for no schedule."""

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
        explored = linear_schedule(
            self.exploration_initial, self.exploration, self.exploration_steps, t
        )
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
