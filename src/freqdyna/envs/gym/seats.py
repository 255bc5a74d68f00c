"""The Gymnasium environments of many seeds, stepped in Python for the compiled learner."""

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from freqdyna.core.errors import one_line, raised_line
from freqdyna.envs.gym.space import HostAction, HostSpace, make_env
from freqdyna.envs.space import Factory

TRAINING, EVALUATION, _, WATCHING = range(4)
"""Independent streams of episode seeds."""
GREATEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Failure:
    """Why a seed stopped early."""

    step: int
    reason: str
    error: Exception | None = None
    """What the environment raised, if it did."""


class EnvironmentFailed(Exception):
    """The user's environment raised an error, or returned something invalid."""

    def __init__(self, reason: str, raised: BaseException | None = None) -> None:
        super().__init__(reason)
        self.raised = raised if isinstance(raised, Exception) else None


@dataclass
class Seat:
    """One environment and the progress of its current episode."""

    env: "gymnasium.Env[Any, Any]"
    space: HostSpace
    seed: int
    stream: int
    episode: int = -1
    """The number of episodes before this one."""
    length: int = 0

    def begin(self, episode: int) -> np.ndarray:
        """Start an episode; its seed depends only on the run's seed and the episode number.

        Args:
            episode: The number of the episode.

        Returns:
            The first state, shape (n,).

        """
        self.episode, self.length = episode, 0
        entropy = np.random.SeedSequence([self.seed, self.stream, episode])
        try:
            observation, _ = self.env.reset(seed=int(entropy.generate_state(1)[0]))
        except (Exception, SystemExit) as error:  # sys.exit must end this seed only
            reason = f"reset raised {one_line(error)} ({raised_line(error)})"
            raise EnvironmentFailed(reason, error) from error
        return self._checked(observation)

    def step(self, action: HostAction) -> tuple[np.ndarray, float, bool, bool]:
        """Take one step.

        Returns:
            The next state of shape (n,), the reward, whether the next state is terminal, and
            whether the episode is over (terminated or truncated).

        """
        try:
            outcome = self.env.step(self.space.to_env_action(action))
        except (Exception, SystemExit) as error:  # sys.exit must end this seed only
            reason = f"step raised {one_line(error)} ({raised_line(error)})"
            raise EnvironmentFailed(reason, error) from error
        try:
            observation, reward, terminal, truncated, _ = outcome
            reward, terminal, truncated = float(reward), bool(terminal), bool(truncated)
        except Exception as error:
            raise EnvironmentFailed(
                "step did not return (observation, reward, terminated, truncated, info): "
                + one_line(error)
            ) from error
        self.length += 1
        if not abs(reward) <= GREATEST:
            raise EnvironmentFailed(f"step returned the reward {reward}")
        over = terminal or truncated or self.length >= self.space.episode_limit
        return self._checked(observation), reward, terminal, over

    def _checked(self, observation: Any) -> np.ndarray:
        try:
            array = np.asarray(observation, np.float32)
        except Exception as error:
            raise EnvironmentFailed(f"an observation is not an array: {one_line(error)}") from error
        if array.shape != self.space.low.shape:
            raise EnvironmentFailed(f"an observation has the shape {array.shape}")
        if not np.isfinite(array).all():
            raise EnvironmentFailed("an observation is not finite")
        return array


class HostEnvs:
    """The training environments of several seeds.

    A seed whose environment fails is skipped from then on; the others continue. The actions of the
    current episodes are recorded, so that a resumed run can replay them and reach the same states.
    """

    def __init__(self, factory: Factory, space: HostSpace, seeds: np.ndarray) -> None:
        self.space = space
        self.seats = [Seat(make_env(factory), space, int(seed), TRAINING) for seed in seeds]
        self.failures: dict[int, Failure] = {}
        """By the index of the seed."""
        self.actions = np.zeros((len(seeds), space.episode_limit, space.action_size), np.float32)
        """The actions of the current episodes."""

    def begin(self) -> np.ndarray:
        """Start the first episode of every seed; returns the states, shape (seeds, n)."""
        return np.stack([self._begin(row, 0, 0) for row in range(len(self.seats))])

    def step(self, actions: np.ndarray, t: int) -> dict[str, np.ndarray]:
        """Take one step in every environment.

        Args:
            actions: One action per seed, shape (seeds,) or (seeds, a).
            t: The number of steps taken before.

        Returns:
            The fields of an `Experience` by name, with the seeds as first axis.

        """
        count, n = len(self.seats), self.space.observation_size
        reward = np.zeros(count, np.float32)
        terminal, over = np.zeros(count, bool), np.zeros(count, bool)
        next_state, observation = np.zeros((count, n), np.float32), np.zeros((count, n), np.float32)
        for row, seat in enumerate(self.seats):
            if row in self.failures:
                continue
            self.actions[row, seat.length] = actions[row]
            try:
                next_state[row], reward[row], terminal[row], over[row] = seat.step(actions[row])
            except EnvironmentFailed as error:
                self.failures[row] = Failure(t + 1, str(error), error.raised)
                continue
            new = over[row]
            observation[row] = self._begin(row, seat.episode + 1, t) if new else next_state[row]
        return {
            "reward": reward,
            "next_state": next_state,
            "terminal": terminal,
            "over": over,
            "observation": observation,
        }

    def memory(self) -> dict[str, np.ndarray]:
        """Everything that `restore` needs, with the seeds as first axis."""
        return {
            "episode": np.array([seat.episode for seat in self.seats], np.int32),
            "length": np.array([seat.length for seat in self.seats], np.int32),
            "actions": self.actions,
        }

    def restore(self, memory: dict[str, np.ndarray], failures: dict[int, Failure]) -> np.ndarray:
        """Restart the current episodes and replay their actions.

        Args:
            memory: What `memory` returned.
            failures: The failures so far, by the index of the seed.

        Returns:
            The states reached, shape (seeds, n).

        """
        self.failures = dict(failures)
        self.actions = np.array(memory["actions"])
        reached = np.zeros((len(self.seats), self.space.observation_size), np.float32)
        for row, seat in enumerate(self.seats):
            if row in self.failures:
                continue
            try:
                reached[row] = seat.begin(int(memory["episode"][row]))
                for action in self.actions[row, : memory["length"][row]]:
                    reached[row] = seat.step(action)[0]
            except EnvironmentFailed as error:
                self.failures[row] = Failure(0, f"while resuming, {error}", error.raised)
        return reached

    def restart_episode(self, row: int, t: int) -> np.ndarray:
        """Start a new episode for one seed; returns its first state, shape (n,)."""
        return self._begin(row, self.seats[row].episode + 1, t)

    def _begin(self, row: int, episode: int, t: int) -> np.ndarray:
        try:
            return self.seats[row].begin(episode)
        except EnvironmentFailed as error:
            self.failures[row] = Failure(t, str(error), error.raised)
            return np.zeros(self.space.observation_size, np.float32)
