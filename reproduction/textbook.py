"""Dyna in tables: figures 8.4 and 8.5 and example 8.4 of Sutton and Barto, 2nd edition.

    python -m reproduction.textbook 8.4

prints numbers and draws `runs/textbook/8.4.png`. The code is plain Python, to be read beside
chapter 8. Figure 8.2 is `python -m reproduction A1`, for many seeds in one compiled program.
"""

import argparse
import heapq
import math
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from reproduction.tabular import DISCOUNT, EXPLORATION, MAZE, MOVES

SEEDS = 30
Pair = tuple[int, int]  # a state and an action


class Maze:
    """A grid; a move into an obstacle ("#") or off the edge leads nowhere, and G has reward 1."""

    def __init__(self, rows: tuple[str, ...]) -> None:
        cells, width = "".join(rows), len(rows[0])
        self.start, self.goal = cells.index("S"), cells.index("G")
        self.states = sum(cell != "#" for cell in cells)
        self.next: dict[Pair, int] = {}
        for state in range(len(cells)):
            for action, (down, right) in enumerate(MOVES):
                row, column = state // width + down, state % width + right
                inside = 0 <= row < len(rows) and 0 <= column < width
                free = inside and rows[row][column] != "#"
                self.next[state, action] = row * width + column if free else state

    def steps_to_goal(self) -> int:
        """The length of the shortest path."""
        distances, reached = {self.start: 0}, [self.start]
        for state in reached:  # which grows
            for action in range(len(MOVES)):
                if (to := self.next[state, action]) not in distances:
                    distances[to] = distances[state] + 1
                    reached.append(to)
        return distances[self.goal]


def walled(row: str) -> Maze:
    """The maze of figures 8.4 and 8.5, with a wall that has openings."""
    return Maze(("........G", ".........", ".........", row, ".........", "...S....."))


class DynaQ:
    """Tabular Dyna-Q, section 8.2."""

    def __init__(self, maze: Maze, planning: int, step_size: float, seed: int) -> None:
        self.maze, self.planning, self.step_size = maze, planning, step_size
        self.random = random.Random(seed)
        self.q: defaultdict[Pair, float] = defaultdict(float)
        self.model: dict[Pair, tuple[float, int]] = {}
        self.visited: list[Pair] = []  # the pairs of the model, to draw from
        self.tried: defaultdict[Pair, int] = defaultdict(int)  # when last, for Dyna-Q+
        self.state, self.time, self.updates = maze.start, 0, 0

    def greedy(self, state: int) -> int:
        """The action with the highest value; ties are broken at random."""
        values = [self.q[state, action] for action in range(len(MOVES))]
        best = max(values)
        return self.random.choice([a for a, value in enumerate(values) if value == best])

    def error(self, pair: Pair, reward: float, next_state: int) -> float:
        """The error of one value: R + γ max Q(S', a) - Q(S, A); values of the goal are 0."""
        best = max(self.q[next_state, action] for action in range(len(MOVES)))
        return reward + DISCOUNT * best - self.q[pair]

    def update(self, pair: Pair, reward: float, next_state: int) -> None:
        """Move one value towards its target."""
        self.q[pair] += self.step_size * self.error(pair, reward, next_state)
        self.updates += 1

    def step(self) -> bool:
        """Act epsilon-greedily, learn, and plan; true if the goal was reached."""
        explore = self.random.random() < EXPLORATION
        action = self.random.randrange(len(MOVES)) if explore else self.greedy(self.state)
        pair = self.state, action
        next_state = self.maze.next[pair]
        reward = float(next_state == self.maze.goal)
        self.learn(pair, reward, next_state)
        self.plan()
        self.time += 1
        self.state = self.maze.start if reward else next_state
        return bool(reward)

    def learn(self, pair: Pair, reward: float, next_state: int) -> None:
        """Learn from a real transition, and remember it."""
        self.update(pair, reward, next_state)
        if pair not in self.model:
            self.visited.append(pair)
        self.model[pair] = reward, next_state

    def plan(self) -> None:
        """Learn from remembered transitions: search-control draws pairs that were visited."""
        for pair in self.random.choices(self.visited, k=self.planning):
            self.update(pair, *self.model[pair])


class DynaQPlus(DynaQ):
    """Dyna-Q+, section 8.3: planned rewards grow with the time since a pair was tried."""

    bonus = 1e-3

    def learn(self, pair: Pair, reward: float, next_state: int) -> None:
        """As Dyna-Q; actions that were never tried in a visited state count as leading nowhere."""
        for action in range(len(MOVES)):
            if (other := (pair[0], action)) not in self.model:
                self.model[other] = 0.0, pair[0]
                self.visited.append(other)
        super().learn(pair, reward, next_state)
        self.tried[pair] = self.time

    def plan(self) -> None:
        """R + κ √τ in place of R."""
        for pair in self.random.choices(self.visited, k=self.planning):
            reward, next_state = self.model[pair]
            waited = self.time - self.tried[pair]
            self.update(pair, reward + self.bonus * math.sqrt(waited), next_state)


class PrioritizedSweeping(DynaQ):
    """Section 8.4: the pair with the largest error first, then those that lead to it."""

    threshold = 1e-4

    def __init__(self, maze: Maze, planning: int, step_size: float, seed: int) -> None:
        super().__init__(maze, planning, step_size, seed)
        self.queue: list[tuple[float, Pair]] = []
        self.priorities: dict[Pair, float] = {}
        self.leading_to: defaultdict[int, set[Pair]] = defaultdict(set)

    def push(self, pair: Pair) -> None:
        """Queue a pair with its error, unless it is there with a larger one."""
        priority = abs(self.error(pair, *self.model[pair]))
        if priority > max(self.threshold, self.priorities.get(pair, 0.0)):
            self.priorities[pair] = priority
            heapq.heappush(self.queue, (-priority, pair))

    def learn(self, pair: Pair, reward: float, next_state: int) -> None:
        """Remember the transition, and queue it."""
        self.model[pair] = reward, next_state
        self.leading_to[next_state].add(pair)
        self.push(pair)

    def plan(self) -> None:
        """Update the pairs at the head of the queue."""
        left = self.planning
        while left and self.queue:
            priority, pair = heapq.heappop(self.queue)
            if self.priorities.get(pair) != -priority:
                continue  # it was queued again with a larger one
            del self.priorities[pair]
            self.update(pair, *self.model[pair])
            left -= 1
            for before in self.leading_to[pair[0]]:
                self.push(before)


def changing_maze(axis: Axes, before: Maze, after: Maze, steps: int, change: int) -> None:
    """The cumulative reward of Dyna-Q and Dyna-Q+ in a maze that changes after some steps."""
    for name, agent_class in {"Dyna-Q": DynaQ, "Dyna-Q+": DynaQPlus}.items():
        goals = np.zeros((SEEDS, steps))
        for seed in range(SEEDS):
            agent = agent_class(before, 10, 0.5, seed)
            for t in range(steps):
                agent.maze = before if t < change else after
                goals[seed, t] = agent.step()
        mean = goals.cumsum(axis=1).mean(0)
        axis.plot(mean, label=name)
        print(f"{name}: reward {mean[change - 1]:.0f} until the change, {mean[-1]:.0f} in the end")
    axis.axvline(change, color="gray", ls=":")
    axis.set(xlabel="time steps", ylabel="cumulative reward")


def enlarged(rows: tuple[str, ...], doublings: int) -> Maze:
    """The maze with its columns and rows doubled in turn; start and goal stay single cells."""
    cells = np.array([list(row) for row in rows])
    cells = cells.repeat(2 ** (doublings // 2), 0).repeat(2 ** ((doublings + 1) // 2), 1)
    for mark in "SG":
        first = tuple(np.argwhere(cells == mark)[0])
        cells[cells == mark] = "."
        cells[first] = mark
    return Maze(tuple(map("".join, cells)))


def updates_until_good(agent: DynaQ) -> int:
    """The updates until the greedy path is at most a fifth longer than the shortest one."""
    # Without this tolerance, exploring would decide when the last step is saved.
    longest = int(1.2 * agent.maze.steps_to_goal())
    while True:
        while not agent.step():
            pass
        state = agent.maze.start
        for _ in range(longest):
            state = agent.maze.next[state, agent.greedy(state)]
            if state == agent.maze.goal:
                return agent.updates


def example_8_4(axis: Axes) -> None:
    """Updates until the greedy path is almost optimal; as nothing is random, steps are whole."""
    mazes = [enlarged(MAZE, doublings) for doublings in range(6)]
    for name, agent in {"Dyna-Q": DynaQ, "prioritized sweeping": PrioritizedSweeping}.items():
        means = [
            np.mean([updates_until_good(agent(maze, 5, 1.0, seed)) for seed in range(10)])
            for maze in mazes
        ]
        axis.loglog([maze.states for maze in mazes], means, marker="o", label=name)
        print(name, {maze.states: round(mean) for maze, mean in zip(mazes, means, strict=True)})
    axis.set(xlabel="states of the maze", ylabel="updates until almost optimal")


# A way is blocked while a longer one opens; a shorter way opens; mazes of growing size.
FIGURES: dict[str, Callable[[Axes], None]] = {
    "8.4": lambda axis: changing_maze(axis, walled("########."), walled(".########"), 3000, 1000),
    "8.5": lambda axis: changing_maze(axis, walled(".########"), walled(".#######."), 6000, 3000),
    "example-8.4": example_8_4,
}


def main() -> None:
    """Draw one figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", choices=FIGURES)
    name = parser.parse_args().figure
    picture, axis = plt.subplots(figsize=(6, 4))
    FIGURES[name](axis)
    axis.legend()
    picture.tight_layout()
    file = Path("runs/textbook") / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(file, dpi=100)
    print(f"wrote {file}")


if __name__ == "__main__":
    main()
