"""The named algorithms: the components of each agent."""

from dataclasses import dataclass
from typing import Any

from freqdyna.agents.base import Agent
from freqdyna.agents.dyna.dyna import Dyna
from freqdyna.agents.dyna.simulation import Planning
from freqdyna.agents.exploration import exploration_of
from freqdyna.agents.learners.base import Learner
from freqdyna.agents.learners.dqn import DQN
from freqdyna.agents.learners.naf import NAF, output_size
from freqdyna.agents.models import MODELS, Model
from freqdyna.agents.replay.base import Replay
from freqdyna.agents.replay.prioritized import PrioritizedReplay
from freqdyna.agents.replay.ring import UniformReplay
from freqdyna.agents.tabular.tabular_dyna import TabularDyna
from freqdyna.config import Config
from freqdyna.config.checks import known_algorithm
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.envs import DynaMaze
from freqdyna.envs.space import Factory, Space
from freqdyna.search_control import SEARCH_CONTROLS, SearchControl


@dataclass(frozen=True)
class Recipe:
    """The components of one algorithm."""

    summary: str
    search_control: str | None = None
    """The name of its search-control; None for an algorithm without a model."""
    own_search_control: bool = False
    """Whether the user may choose another search-control."""
    prioritized: bool = False
    tabular: bool = False
    continuous: bool = False
    """Whether it is for continuous actions; otherwise it is for discrete ones."""

    @property
    def has_model(self) -> bool:
        """Whether it plans with the model of the settings."""
        return self.search_control is not None


_PAPERS_NAMES = {"gradient-norm": "dyna-gradnorm", "hessian-norm": "dyna-hessnorm"}
"""The paper's names (appendix A.5) that are not `dyna-` followed by that of the search-control."""


def _dyna_recipes() -> dict[str, Recipe]:
    """One recipe for each built-in search-control."""
    recipes = {}
    for name, strategy in SEARCH_CONTROLS.items():
        summary = SEARCH_CONTROLS.summary(strategy)
        text = f"Dyna, planning from {summary[:1].lower()}{summary[1:]}"
        recipes[_PAPERS_NAMES.get(name, f"dyna-{name}")] = Recipe(text, name)
    return recipes


ALGORITHMS: dict[str, Recipe] = {
    "er": Recipe("DQN with uniform experience replay"),
    "prioritized-er": Recipe(
        "DQN with proportional prioritized replay, half of each mini-batch uniform",
        prioritized=True,
    ),
    **_dyna_recipes(),
    "dyna": Recipe(
        "Dyna with the search-control of your choice, td-error if you choose none",
        "td-error",  # docs/choosing-an-algorithm.md
        own_search_control=True,
    ),
    "naf": Recipe("NAF: Q-learning with continuous actions", continuous=True),
    "dyna-naf-value": Recipe("dyna-value with continuous actions", "value", continuous=True),
    "dyna-naf-frequency": Recipe(
        "dyna-frequency with continuous actions", "frequency", continuous=True
    ),
    "tabular-dyna-q": Recipe("tabular Dyna-Q with a count model (DynaMaze)", tabular=True),
}


def find(name: str) -> Recipe:
    """The algorithm called `name`, here or in other libraries."""
    name = known_algorithm(name)
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def build(
    config: Config,
    space: Space,
    search: SearchControl | None = None,
    factory: Factory | None = None,
    model: Model[Any] | None = None,
) -> Agent[Any]:
    """Create the agent that the settings describe.

    Args:
        config: The settings of the run, all of them set (see `envs.resolve.resolved`).
        space: The environment or its space.
        search: A search-control that replaces that of the algorithm.
        factory: Creates the environments of a space that is stepped in Python.
        model: A model that replaces the one that the settings name.

    """
    planning_steps = config.decided("planning_steps")
    recipe = find(config.algorithm)
    usual = ("true", space.default_settings.get("model"))
    if not recipe.has_model and (model is not None or config.model not in usual):
        raise FreqdynaError(f"model is {config.model!r}, but {config.algorithm!r} has no model")
    _check_actions(config, space)
    _check_learner(config, space)
    planning = _planning(config, space, search, factory, model)
    if recipe.tabular:
        return _tabular(config, space, planning_steps)
    if planning_steps < 1:
        raise FreqdynaError(
            f"planning_steps is 0; it must be 1 or greater for algorithm {config.algorithm!r}"
        )
    return Dyna(
        env=space,
        learner=make_learner(config, space),
        replay=_replay(config),
        planning=planning,
        batch_size=config.batch_size,
        planning_steps=planning_steps,
        exploration=exploration_of(config),
        warmup_steps=config.warmup_steps,
        first_update_step=0 if config.learn_in_warmup else config.warmup_steps,
        scale_observations=config.decided("scale_observations"),
    )


def _check_actions(config: Config, space: Space) -> None:
    recipe = find(config.algorithm)
    if recipe.own_search_control or recipe.continuous == (space.num_actions == 0):
        return
    kind = "discrete" if space.num_actions else "continuous"
    fitting = [
        name
        for name, other in ALGORITHMS.items()
        if other.own_search_control or other.continuous != recipe.continuous
    ]
    raise FreqdynaError(
        f"algorithm is {config.algorithm!r}, but the actions of {space.name!r} are {kind}; "
        f"choose one of {', '.join(fitting)}"
    )


def _check_learner(config: Config, space: Space) -> None:
    """Raise an error for settings that the learner does not have."""
    if config.double and not space.num_actions:
        raise FreqdynaError(
            f"double is True, but the actions of {space.name!r} are continuous; it must be False"
        )


def make_learner(config: Config, space: Space) -> Learner:
    """DQN for discrete actions, NAF for continuous ones."""
    hidden = config.decided("hidden")
    of_both: dict[str, Any] = {
        "discount": config.discount,
        "learning_rate": config.learning_rate,
        "activation": config.activation,
        "loss": config.loss,
        "max_gradient_norm": config.max_gradient_norm,
    }
    if space.num_actions:
        return DQN(
            sizes=(space.observation_size, *hidden, space.num_actions),
            target_period=config.target_period,
            double=config.double,
            **of_both,
        )
    return NAF(
        sizes=(space.observation_size, *hidden, output_size(space.action_size)),
        low=space.action_low,
        high=space.action_high,
        target_rate=config.target_rate,
        **of_both,
    )


_OF_NETWORKS = ("activation", "double", "loss", "max_gradient_norm", "scale_observations")
"""Settings of learners with a network."""


def _tabular(config: Config, env: Space, planning_steps: int) -> TabularDyna:
    if not isinstance(env, DynaMaze):
        raise FreqdynaError(
            f"env is {env.name!r}; algorithm {config.algorithm!r} needs 'DynaMaze', whose states "
            "are cells"
        )
    for name in _OF_NETWORKS:
        value = getattr(config, name)
        if value not in (getattr(Config, name), env.own_settings.get(name)):
            raise FreqdynaError(
                f"{name} is {value!r}, but algorithm {config.algorithm!r} has no network; omit it"
            )
    return TabularDyna(
        env,
        config.discount,
        config.tabular_learning_rate,
        exploration_of(config),
        planning_steps,
    )


def _replay(config: Config) -> Replay[Any]:
    if find(config.algorithm).prioritized:
        return PrioritizedReplay(config.buffer_size, config.priority_exponent)
    return UniformReplay(config.buffer_size)


def _planning(
    config: Config,
    space: Space,
    search: SearchControl | None,
    factory: Factory | None,
    model: Model[Any] | None,
) -> Planning | None:
    recipe = find(config.algorithm)
    given = search is not None or config.search_control is not None
    if given and not recipe.own_search_control:
        raise FreqdynaError(
            f"search_control is set, but algorithm {config.algorithm!r} has its own or none; "
            "use algorithm 'dyna'"
        )
    name = config.search_control or recipe.search_control
    if search is None:
        if name is None:
            return None
        search = SEARCH_CONTROLS.make(SEARCH_CONTROLS.find(name), config)
    if model is None:
        model = _model(config, space, factory)
    return Planning(
        search_control=search,
        model=model,
        simulated=round(config.simulated_share * config.batch_size),
        queue_size=config.queue_size,
        exploration=config.planning_exploration,
        model_updates=config.model_updates,
        rollout_length=config.rollout_length,
    )


def _model(config: Config, space: Space, factory: Factory | None) -> Model[Any]:
    if config.model == "true" and space.on_host:
        from freqdyna.agents.models.host_model import host_model  # Gymnasium may be missing

        assert factory is not None
        return host_model(factory, space)
    return MODELS.make(MODELS.find(config.decided("model")), config, space)
