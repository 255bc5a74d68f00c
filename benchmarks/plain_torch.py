"""ER and Dyna-Frequency in plain eager PyTorch, as a careful researcher would write them.

One seed on MountainCar, one thread: a NumPy ring and queue, `torch.optim.Adam`, derivatives by
autograd. The tests hold its update and its climbing step against ours.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

ACTIONS, LOW, HIGH = 3, np.array([-1.2, -0.07]), np.array([0.6, 0.07])


class QNetwork(nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
    """The paper's 32×32 tanh network."""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, ACTIONS),
        )
        for layer in self.layers[:-1:2]:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        nn.init.uniform_(self.layers[-1].weight, -0.003, 0.003)
        nn.init.uniform_(self.layers[-1].bias, -0.003, 0.003)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Action values, shape (batch, actions)."""
        return self.layers(states)


def move(states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """MountainCar for a batch: next states, rewards, whether they are terminal."""
    position, velocity = states[:, 0], states[:, 1]
    velocity = velocity + (actions - 1) * 0.001 - np.cos(3 * position) * 0.0025
    velocity = np.clip(velocity, -0.07, 0.07)
    position = np.clip(position + velocity, -1.2, 0.6)
    velocity = np.where((position == -1.2) & (velocity < 0), 0.0, velocity)
    terminal = (position >= 0.5) & (velocity >= 0)
    return np.stack([position, velocity], 1), np.full(len(states), -1.0), terminal


def slopes(network: QNetwork, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∇V and ∇g at one state, g = ‖∇V‖² + ‖H_V‖²_F."""
    s = torch.tensor(state, dtype=torch.float32, requires_grad=True)
    value = network(s[None]).max()
    (gradient,) = torch.autograd.grad(value, s, create_graph=True)
    rows = [torch.autograd.grad(part, s, create_graph=True)[0] for part in gradient]
    frequency = (gradient**2).sum() + (torch.stack(rows) ** 2).sum()
    (slope,) = torch.autograd.grad(frequency, s)
    return gradient.detach().numpy(), slope.numpy()


def climb(
    network: QNetwork,
    begin: Callable[[], tuple[np.ndarray, bool]],
    normals: np.ndarray,
    sigma: np.ndarray,
    mean_step: float,
    wanted: int,
) -> list[np.ndarray]:
    """States found by climbing, with at most one step for each row of `normals`.

    `begin` returns a start and whether to climb g rather than V.
    """
    root = np.linalg.cholesky(0.01 * sigma + 1e-12 * np.eye(2))
    proposed: list[np.ndarray] = []
    state, by_frequency = begin()
    last = state
    for normal in normals:
        gradient, slope = slopes(network, state)
        steepest = slope if by_frequency else gradient
        chosen = sigma @ steepest
        length = np.linalg.norm(chosen)
        moves = np.linalg.norm(steepest) >= 1e-5 and np.isfinite(length) and length > 0
        unit = chosen / length if moves else np.zeros(2)
        state = state + 0.01 * unit + root @ normal
        outside = (state < LOW).any() or (state > HIGH).any()
        if outside or (state[0] >= 0.5 and state[1] >= 0):
            state, by_frequency = begin()
            last = state
        elif np.linalg.norm(state - last) / np.sqrt(2) > mean_step:
            proposed.append(state)
            last = state
            if len(proposed) == wanted:
                break
    return proposed


class PlainAgent:
    """One seed of ER, or of Dyna-Frequency with the true model."""

    def __init__(self, dyna: bool, planning_steps: int = 10, seed: int = 0) -> None:
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.rng = np.random.default_rng(seed)
        self.dyna, self.planning_steps = dyna, planning_steps
        self.network, self.target = QNetwork(), QNetwork()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.ring, self.stored = np.zeros((100_000, 7), np.float32), 0
        self.queue, self.queued = np.zeros((100_000, 2), np.float32), 0
        self.state, self.episode_step, self.time, self.updates = self._start(), 0, 0, 0
        self.mean, self.scatter, self.mean_step = np.zeros(2), np.zeros((2, 2)), 0.0

    def step(self) -> None:
        """Act, store, search, plan."""
        random = self.time < 5000 or self.rng.uniform() < 0.1
        action = self.rng.integers(ACTIONS) if random else self._greedy(self.state[None])[0]
        following, reward, terminal = (x[0] for x in move(self.state[None], np.array([action])))
        self.ring[self.stored % len(self.ring)] = (
            *self.state,
            action,
            reward,
            *following,
            terminal,
        )
        self.stored += 1
        self._observe(following)
        self.time, self.episode_step = self.time + 1, self.episode_step + 1
        over = terminal or self.episode_step >= 2000
        self.state, self.episode_step = (
            (self._start(), 0) if over else (following, self.episode_step)
        )
        if self.dyna:
            self._search()
        for _ in range(self.planning_steps):
            self.update(self._batch())

    def update(self, rows: np.ndarray) -> None:
        """One Adam step on a mini-batch of (state, action, reward, next state, terminal)."""
        batch = torch.from_numpy(rows)
        with torch.no_grad():
            following = self.target(batch[:, 4:6]).max(1).values
            targets = batch[:, 3] + 0.99 * (1 - batch[:, 6]) * following
        values = self.network(batch[:, :2]).gather(1, batch[:, 2:3].long())[:, 0]
        loss = ((targets - values) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 1000 == 0:
            self.target.load_state_dict(self.network.state_dict())

    def _start(self) -> np.ndarray:
        return np.array([self.rng.uniform(-0.6, -0.4), 0.0])

    def _greedy(self, states: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return self.network(torch.from_numpy(states.astype(np.float32))).argmax(1).numpy()

    def _observe(self, following: np.ndarray) -> None:
        """Update the covariance of the states and the mean distance between successive ones."""
        step = np.linalg.norm(following - self.state) / np.sqrt(2)
        self.mean_step += (step - self.mean_step) / self.stored
        away = self.state - self.mean
        self.mean = self.mean + away / self.stored
        self.scatter = self.scatter + np.outer(away, self.state - self.mean)

    def _search(self, wanted: int = 20, limit: int = 200) -> None:
        """Climb g from queue states or V from visited ones until m states are found."""
        sigma = self.scatter / max(self.stored - 1, 1)
        normals = self.rng.normal(size=(limit, 2))
        for state in climb(self.network, self._begin, normals, sigma, self.mean_step, wanted):
            self.queue[self.queued % len(self.queue)] = state
            self.queued += 1

    def _begin(self) -> tuple[np.ndarray, bool]:
        by_frequency = self.queued > 0 and self.rng.uniform() < 0.5
        if by_frequency:
            return self.queue[self.rng.integers(min(self.queued, len(self.queue)))], True
        return self.ring[self.rng.integers(min(self.stored, len(self.ring))), :2], False

    def _batch(self, size: int = 32) -> np.ndarray:
        real = size // 2 if self.dyna and self.queued else size
        rows = self.ring[self.rng.integers(min(self.stored, len(self.ring)), size=real)]
        if real == size:
            return rows
        states = self.queue[self.rng.integers(min(self.queued, len(self.queue)), size=size - real)]
        random = self.rng.uniform(size=size - real) < 0.1
        actions = np.where(
            random, self.rng.integers(ACTIONS, size=size - real), self._greedy(states)
        )
        following, rewards, terminal = move(states, actions)
        columns = (states, actions, rewards, following, terminal)
        simulated = np.column_stack(columns).astype(np.float32)
        return np.concatenate([rows, simulated])
