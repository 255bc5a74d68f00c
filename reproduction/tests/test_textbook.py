"""Dyna-Q, Dyna-Q+ and prioritized sweeping in the mazes of the textbook."""

import pytest

from reproduction.tabular import MAZE
from reproduction.textbook import (
    DynaQ,
    DynaQPlus,
    Maze,
    PrioritizedSweeping,
    enlarged,
    updates_until_good,
    walled,
)


def goals(agent: DynaQ, before: Maze, after: Maze, steps: int, change: int) -> int:
    """How often the agent reaches the goal after the change."""
    reached = 0
    for t in range(steps):
        agent.maze = before if t < change else after
        reached += agent.step() and t >= change
    return reached


@pytest.mark.parametrize(
    ("before", "after", "steps", "change"),
    [("########.", ".########", 3000, 1000), (".########", ".#######.", 6000, 3000)],
)
def test_a_bonus_for_what_was_long_not_tried_finds_a_new_way(before, after, steps, change):
    mazes = walled(before), walled(after)
    sums = [
        sum(goals(agent(mazes[0], 10, 0.5, seed), *mazes, steps, change) for seed in range(5))
        for agent in (DynaQ, DynaQPlus)
    ]
    assert sums[1] > 1.15 * sums[0]


def test_mazes_double_their_states():
    mazes = [enlarged(MAZE, doublings) for doublings in range(4)]
    assert [maze.states for maze in mazes] == [47, 94, 188, 376]
    assert mazes[0].steps_to_goal() == 14
    assert mazes[2].steps_to_goal() == 28


def test_prioritized_sweeping_needs_a_tenth_of_the_updates():
    maze = enlarged(MAZE, 2)
    updates = [
        sum(updates_until_good(agent(maze, 5, 1.0, seed)) for seed in range(3))
        for agent in (PrioritizedSweeping, DynaQ)
    ]
    assert 10 * updates[0] < updates[1]


def test_prioritized_sweeping_works_backwards_from_the_goal():
    agent = PrioritizedSweeping(walled("########."), 100, 1.0, 0)
    # Two steps before the goal are known, in the order in which an agent would meet them.
    for pair, reward in (((6, 3), 0.0), ((7, 3), 1.0)):
        agent.learn(pair, reward, agent.maze.next[pair])
    agent.plan()
    assert agent.q[7, 3] == 1.0
    assert agent.q[6, 3] == pytest.approx(0.95)
    assert agent.updates == 2
