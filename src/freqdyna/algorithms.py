"""The named algorithms: which parts an agent is composed of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freqdyna.config import Config
from freqdyna.dyna import Dyna
from freqdyna.envs import Environment
from freqdyna.errors import unknown_name
from freqdyna.learners.dqn import DQN
from freqdyna.replay.base import Replay
from freqdyna.replay.prioritized import PrioritizedReplay
from freqdyna.replay.ring import UniformReplay


@dataclass(frozen=True)
class Recipe:
    """One algorithm by name."""

    summary: str
    replay: Callable[[Config, int], Replay[Any]]
    """From the configuration and a capacity to the replay buffer."""


ALGORITHMS: dict[str, Recipe] = {
    "er": Recipe(
        "DQN with uniform experience replay",
        lambda config, capacity: UniformReplay(capacity),
    ),
    "prioritized-er": Recipe(
        "DQN with proportional prioritized replay, half of each mini-batch uniform",
        lambda config, capacity: PrioritizedReplay(capacity, config.priority_exponent),
    ),
}


def find(name: str) -> Recipe:
    """The algorithm called `name`."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def build(config: Config, env: Environment) -> Dyna:
    """The agent that `config` describes, for `env`."""
    config = config.resolved()
    assert config.planning_steps is not None
    assert config.hidden is not None
    # A buffer that never fills needs no more rows than there are steps.
    capacity = min(config.buffer_size, config.steps)
    return Dyna(
        env=env,
        learner=DQN(
            sizes=(env.observation_size, *config.hidden, env.num_actions),
            discount=config.discount,
            learning_rate=config.learning_rate,
            target_period=config.target_period,
        ),
        replay=find(config.algorithm).replay(config, capacity),
        batch_size=config.batch_size,
        planning_steps=config.planning_steps,
        exploration=config.exploration,
        warmup_steps=config.warmup_steps,
        first_update_step=0 if config.learn_in_warmup else config.warmup_steps,
    )
