"""Tabular Dyna-Q in a maze (Sutton and Barto, Reinforcement Learning, 2nd edition, section 8.2).

There is one value for each cell and action. After each step, Dyna-Q learns from the transition,
stores its outcome in a model, and updates the values of pairs of cell and action that it has
visited, with the outcomes that the model has of them.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.core.keys import seed_keys

MAZE = (
    ".......#G",
    "..#....#.",
    "S.#....#.",
    "..#......",
    ".....#...",
    ".........",
)
"""The cells by row; "#" is an obstacle, "S" the start and "G" the goal."""
ROWS, COLUMNS = len(MAZE), len(MAZE[0])
START, GOAL = "".join(MAZE).index("S"), "".join(MAZE).index("G")
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Rows and columns by action: up, down, left, right."""
EPISODE_LIMIT = 2000
"""An episode is truncated after this number of steps."""

DISCOUNT, LEARNING_RATE, EXPLORATION = 0.95, 0.1, 0.1
"""As in Sutton and Barto's figure 8.2."""
NOT_VISITED = -1

Cell = Int[Array, ""]
Action = Int[Array, ""]
Table = Float[Array, "cells actions"]
"""The value of each cell and action."""
Model = Int[Array, "cells actions"]
"""The cell to which each action led, or NOT_VISITED. The reward follows from it, as in the maze."""


def successors() -> np.ndarray:
    """The cell to which each action leads from each cell, shape (cells, actions).

    A move into an obstacle or off the edge leads nowhere.
    """
    to = np.empty((ROWS * COLUMNS, len(MOVES)), np.int32)
    for cell, (row, column) in enumerate(np.ndindex(ROWS, COLUMNS)):
        for action, (down, right) in enumerate(MOVES):
            r = min(max(row + down, 0), ROWS - 1)
            c = min(max(column + right, 0), COLUMNS - 1)
            to[cell, action] = cell if MAZE[r][c] == "#" else r * COLUMNS + c
    return to


class DynaQ(NamedTuple):
    """The state of a training."""

    cell: Cell
    length: Int[Array, ""]
    """The steps of the current episode so far."""
    values: Table
    model: Model


def start() -> DynaQ:
    """The state before the first step."""
    shape = ROWS * COLUMNS, len(MOVES)
    model = jnp.full(shape, NOT_VISITED, jnp.int32)
    return DynaQ(jnp.int32(START), jnp.int32(0), jnp.zeros(shape), model)


def act(values: Table, cell: Cell, key: PRNGKeyArray) -> Action:
    """The epsilon-greedy action; ties are broken at random."""
    explore_key, action_key, tie_key = jax.random.split(key, 3)
    row = values[cell]
    best = jnp.where(row == row.max(), jax.random.uniform(tie_key, row.shape), -1.0)
    random_action = jax.random.randint(action_key, (), 0, len(MOVES))
    explore = jax.random.uniform(explore_key) < EXPLORATION
    return jnp.where(explore, random_action, jnp.argmax(best))


def update(values: Table, cell: Cell, action: Action, next_cell: Cell) -> Table:
    """Move one value towards r + γ max Q(s', ·); the reward is 1 at the goal, otherwise 0."""
    target = jnp.where(next_cell == GOAL, 1.0, DISCOUNT * values[next_cell].max())
    return values.at[cell, action].add(LEARNING_RATE * (target - values[cell, action]))


def visited(
    model: Model, pairs: int, key: PRNGKeyArray
) -> tuple[Int[Array, " pairs"], Int[Array, " pairs"]]:
    """Cells and actions, drawn uniformly from those visited."""
    counts = jnp.cumsum((model != NOT_VISITED).ravel().astype(float))
    drawn = jax.random.uniform(key, (pairs,)) * counts[-1]
    return jnp.divmod(jnp.searchsorted(counts, drawn, side="right"), len(MOVES))


def step(state: DynaQ, key: PRNGKeyArray, planning_steps: int) -> tuple[DynaQ, Int[Array, ""]]:
    """Act, learn, and plan; also returns the length of the episode if it ends, otherwise 0."""
    act_key, _, _, plan_key = jax.random.split(key, 4)  # so that the stored results come out again
    cell, action = state.cell, act(state.values, state.cell, act_key)
    next_cell = jnp.asarray(successors())[cell, action]
    values = update(state.values, cell, action, next_cell)
    model = state.model.at[cell, action].set(next_cell)

    def plan(values: Table, pair: tuple[Cell, Action]) -> tuple[Table, None]:
        return update(values, *pair, model[pair]), None

    values, _ = jax.lax.scan(plan, values, visited(model, planning_steps, plan_key))
    length = state.length + 1
    over = (next_cell == GOAL) | (length >= EPISODE_LIMIT)
    following = jnp.where(over, START, next_cell), jnp.where(over, 0, length)
    return DynaQ(*following, values, model), jnp.where(over, length, 0)


def train(key: PRNGKeyArray, steps: int, planning_steps: int) -> tuple[DynaQ, Int[Array, " steps"]]:
    """The last state, and after each step the length of the episode if it ended there, else 0."""
    step_key, _ = jax.random.split(jax.random.fold_in(key, 0))

    def advance(state: DynaQ, t: Int[Array, ""]) -> tuple[DynaQ, Int[Array, ""]]:
        return step(state, jax.random.fold_in(step_key, t), planning_steps)

    return jax.lax.scan(advance, start(), jnp.arange(steps))


def train_seeds(seeds: int, steps: int, planning_steps: int) -> tuple[DynaQ, np.ndarray]:
    """`train` of the seeds 0, 1, ... at once; the lengths have shape (seeds, steps)."""
    program = jax.jit(jax.vmap(partial(train, steps=steps, planning_steps=planning_steps)))
    states, ended = program(seed_keys(np.arange(seeds)))
    return states, np.asarray(ended)


def first_episodes(ended: np.ndarray, episodes: int) -> np.ndarray:
    """The lengths of the first episodes of each seed, shape (seeds, episodes); 0 if not ended."""
    lengths = np.zeros((len(ended), episodes), np.int32)
    for row, of_seed in zip(lengths, ended, strict=True):
        completed = of_seed[of_seed > 0][:episodes]
        row[: len(completed)] = completed
    return lengths
