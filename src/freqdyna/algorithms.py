"""The named algorithms: which parts an agent is composed of."""

from dataclasses import dataclass
from typing import Any

from freqdyna import search_control
from freqdyna.agent import Agent
from freqdyna.config import Config
from freqdyna.dyna import Dyna
from freqdyna.envs import DynaMaze, Environment
from freqdyna.errors import FreqdynaError, unknown_name
from freqdyna.learners.dqn import DQN
from freqdyna.models.base import Model
from freqdyna.models.learned_model import LearnedModel
from freqdyna.models.true_model import TrueModel
from freqdyna.planning import Planning
from freqdyna.replay.base import Replay
from freqdyna.replay.prioritized import PrioritizedReplay
from freqdyna.replay.ring import UniformReplay
from freqdyna.search_control import SearchControl
from freqdyna.tabular_dyna import TabularDyna


@dataclass(frozen=True)
class Recipe:
    """One algorithm by name."""

    summary: str
    search_control: str | None = None
    """Name of the search-control; None for an algorithm without a model."""
    own_search_control: bool = False
    """Whether the user names the search-control."""
    prioritized: bool = False
    tabular: bool = False


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
    "dyna": Recipe("Dyna with the search-control that you give", own_search_control=True),
    "tabular-dyna-q": Recipe("Dyna-Q in a table with a count model (DynaMaze)", tabular=True),
}


def find(name: str) -> Recipe:
    """The algorithm called `name`."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def build(config: Config, env: Environment, search: SearchControl | None = None) -> Agent[Any]:
    """The agent that `config` describes, for `env`; `search` takes the recipe's place."""
    config = config.resolved()
    assert config.planning_steps is not None
    assert config.hidden is not None
    recipe = find(config.algorithm)
    if recipe.search_control is None and not recipe.own_search_control and config.model != "true":
        raise FreqdynaError(f"model is {config.model!r}, but {config.algorithm!r} has no model")
    planning = _planning(config, env, search)
    if recipe.tabular:
        return _tabular(config, env, config.planning_steps)
    if config.planning_steps < 1:
        raise FreqdynaError(
            f"planning_steps is 0; it must be 1 or greater for algorithm {config.algorithm!r}"
        )
    return Dyna(
        env=env,
        learner=DQN(
            sizes=(env.observation_size, *config.hidden, env.num_actions),
            discount=config.discount,
            learning_rate=config.learning_rate,
            target_period=config.target_period,
        ),
        replay=_replay(config),
        planning=planning,
        batch_size=config.batch_size,
        planning_steps=config.planning_steps,
        exploration=config.exploration,
        warmup_steps=config.warmup_steps,
        first_update_step=0 if config.learn_in_warmup else config.warmup_steps,
    )


def _tabular(config: Config, env: Environment, planning_steps: int) -> TabularDyna:
    if not isinstance(env, DynaMaze):
        raise FreqdynaError(
            f"env is {env.name!r}; algorithm {config.algorithm!r} needs 'DynaMaze', whose states "
            "are cells"
        )
    return TabularDyna(
        env, config.discount, config.tabular_learning_rate, config.exploration, planning_steps
    )


def _replay(config: Config) -> Replay[Any]:
    # A buffer that never fills needs no more rows than there are steps.
    capacity = min(config.buffer_size, config.steps)
    if find(config.algorithm).prioritized:
        return PrioritizedReplay(capacity, config.priority_exponent)
    return UniformReplay(capacity)


def _planning(config: Config, env: Environment, search: SearchControl | None) -> Planning | None:
    recipe = find(config.algorithm)
    given = search is not None or config.search_control is not None
    if given and not recipe.own_search_control:
        raise FreqdynaError(
            f"search_control is given, but algorithm {config.algorithm!r} has its own or none; "
            "take algorithm 'dyna'"
        )
    if recipe.own_search_control and not given:
        raise FreqdynaError(
            f"search_control is None; algorithm {config.algorithm!r} needs one: a name that "
            "`freqdyna list` prints, or module:Class"
        )
    name = config.search_control or recipe.search_control
    if search is None:
        if name is None:
            return None
        search = search_control.make(search_control.find(name), config)
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
