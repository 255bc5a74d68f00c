"""The named algorithms: which parts an agent is composed of."""

from dataclasses import dataclass
from typing import Any

from freqdyna import search_control
from freqdyna.config import Config
from freqdyna.dyna import Dyna, Planning
from freqdyna.envs import Environment
from freqdyna.errors import FreqdynaError, unknown_name
from freqdyna.learners.dqn import DQN
from freqdyna.models.base import Model
from freqdyna.models.learned_model import LearnedModel
from freqdyna.models.true_model import TrueModel
from freqdyna.replay.base import Replay
from freqdyna.replay.prioritized import PrioritizedReplay
from freqdyna.replay.ring import UniformReplay
from freqdyna.search_control import SearchControl


@dataclass(frozen=True)
class Recipe:
    """One algorithm by name."""

    summary: str
    search_control: str | None = None
    """Name of the search-control; None for an algorithm without a model."""
    prioritized: bool = False


ALGORITHMS: dict[str, Recipe] = {
    "er": Recipe("DQN with uniform experience replay"),
    "prioritized-er": Recipe(
        "DQN with proportional prioritized replay, half of each mini-batch uniform",
        prioritized=True,
    ),
    "dyna-value": Recipe("Dyna, climbing the value V (HC-Dyna)", "value"),
    "dyna-frequency": Recipe("Dyna, climbing the local frequency g, and V", "frequency"),
    "dyna-gradnorm": Recipe("dyna-frequency with the gradient norm alone", "gradient-norm"),
    "dyna-hessnorm": Recipe("dyna-frequency with the Hessian norm alone", "hessian-norm"),
    "dyna-value-plus-frequency": Recipe("Dyna, climbing V + g", "value-plus-frequency"),
    "dyna-value-times-frequency": Recipe("Dyna, climbing V · g", "value-times-frequency"),
    "dyna-replay": Recipe("Dyna, planning from visited states", "replay"),
    "dyna-uniform": Recipe("Dyna, planning from anywhere", "uniform"),
}


def find(name: str) -> Recipe:
    """The algorithm called `name`."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def build(config: Config, env: Environment, search: SearchControl | None = None) -> Dyna:
    """The agent that `config` describes, for `env`; `search` takes the recipe's place."""
    config = config.resolved()
    assert config.planning_steps is not None
    assert config.hidden is not None
    return Dyna(
        env=env,
        learner=DQN(
            sizes=(env.observation_size, *config.hidden, env.num_actions),
            discount=config.discount,
            learning_rate=config.learning_rate,
            target_period=config.target_period,
        ),
        replay=_replay(config),
        planning=_planning(config, env, search),
        batch_size=config.batch_size,
        planning_steps=config.planning_steps,
        exploration=config.exploration,
        warmup_steps=config.warmup_steps,
        first_update_step=0 if config.learn_in_warmup else config.warmup_steps,
    )


def _replay(config: Config) -> Replay[Any]:
    # A buffer that never fills needs no more rows than there are steps.
    capacity = min(config.buffer_size, config.steps)
    if find(config.algorithm).prioritized:
        return PrioritizedReplay(capacity, config.priority_exponent)
    return UniformReplay(capacity)


def _planning(config: Config, env: Environment, search: SearchControl | None) -> Planning | None:
    name = find(config.algorithm).search_control
    if name is None:
        if search is not None or config.search_control is not None:
            raise FreqdynaError(
                f"search_control is given, but algorithm {config.algorithm!r} has no model to "
                "search with; take 'dyna-value' or another whose name begins with dyna"
            )
        return None
    if search is None:
        search = search_control.find(config.search_control or name)(config)
    model: Model[Any] = TrueModel(env)
    if config.model == "learned":
        known = config.model_termination == "known"
        model = LearnedModel(env, config.model_learning_rate, known)
    return Planning(
        search_control=search,
        model=model,
        simulated=round(config.simulated_share * config.batch_size),
        queue_size=config.queue_size,
        exploration=config.planning_exploration,
    )
