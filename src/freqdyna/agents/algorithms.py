"""The named algorithms: which components an agent has, and how they are put together."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from freqdyna.agents.dyna.agent import Dyna
from freqdyna.agents.dyna.planning import Planning
from freqdyna.agents.learners import DQN, NAF, Learner
from freqdyna.agents.models import MODELS
from freqdyna.agents.models.true import host_model
from freqdyna.agents.replay import ReplayBuffer
from freqdyna.agents.sac import SAC
from freqdyna.agents.trust import TRUSTS
from freqdyna.config import (
    COMPONENTS,
    Component,
    Config,
    create,
    known_algorithm,
    settings_of,
    values_of,
)
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.plugins import module_of
from freqdyna.envs import ENVIRONMENTS, Environment, make
from freqdyna.envs.space import Factory, Space
from freqdyna.search_control import SEARCH_CONTROLS


@dataclass(frozen=True)
class Recipe:
    """The components of one algorithm."""

    summary: str
    search_control: str | None = None
    """The name of its search-control; None for an algorithm without a model."""
    any_search_control: bool = False
    """Whether the user may choose another search-control."""
    learner: type[Learner] | None = None
    """Its learner; if None, DQN for discrete actions and SAC for continuous ones."""


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
    "er": Recipe("DQN, or SAC for continuous actions, with experience replay"),
    "prioritized-er": Recipe(
        "the paper's name of er with prioritized replay, which is the default of er"
    ),
    **_dyna_recipes(),
    "dyna": Recipe(
        "Dyna with the search-control of your choice, td-error if you choose none",
        "td-error",  # docs/where-to-plan.md
        any_search_control=True,
    ),
    "naf": Recipe("NAF: the paper's learner for continuous actions", learner=NAF),
    "dyna-naf-value": Recipe("dyna-value with NAF", "value", learner=NAF),
    "dyna-naf-frequency": Recipe("dyna-frequency with NAF", "frequency", learner=NAF),
}


def recipe_of(name: str) -> Recipe:
    """The algorithm called `name`, here or in other libraries."""
    name = known_algorithm(name)
    if name not in ALGORITHMS:
        hint = "DQN and SAC are 'er', other libraries have other learners"
        raise FreqdynaError(f"{unknown_name('algorithm', name, ALGORITHMS)}; {hint}")
    return ALGORITHMS[name]


def component_classes(config: Config, continuous: bool, on_host: bool) -> dict[str, type]:
    """The class of each component that a run has; "" stands for the agent itself.

    `continuous` are its actions; with `on_host` its environment is stepped in Python.
    """
    recipe = recipe_of(config.algorithm)
    classes: dict[str, type] = {}
    if config.env in ENVIRONMENTS and not on_host:
        classes["env"] = ENVIRONMENTS[config.env]
    learner = recipe.learner or (SAC if continuous else DQN)
    classes |= {"": Dyna, "learner": learner, "replay": ReplayBuffer}
    if recipe.search_control is not None:
        classes["planning"] = Planning
        control = config.search_control or recipe.search_control
        classes["search_control"] = SEARCH_CONTROLS.find(control)
        model = config.model or "ensemble"
        classes["model"] = MODELS.find(model)
        classes["trust"] = TRUSTS.find(
            config.trust or ("always" if model == "true" else "calibrated")
        )
    return classes


def defaults_of(classes: Mapping[str, type]) -> dict[str, Any]:
    """The defaults of settings that depend on the learner, by full name."""
    learner: type[Learner] = classes["learner"]
    return dict(learner.agent_defaults)


def has_setting(config: Config, name: str) -> bool:
    """Whether a run has a setting; if its actions are not known, with some kind of actions."""
    kind, _, field = name.rpartition(".")
    env, recipe = ENVIRONMENTS.get(config.env), recipe_of(config.algorithm)
    if name in settings_of(Config):
        planned = ("search_control", "model", "trust")
        return name not in planned or recipe.search_control is not None
    if env is None and kind == "env":
        return field == "episode_limit"  # the arguments of Gymnasium's environments are not known
    either = {True, False} if env is None else {env.num_actions == 0}
    return any(
        field in settings_of(component_classes(config, one, env is None).get(kind, Config))
        for one in either
    )


def build(
    config: Config,
    space: Space,
    factory: Factory | None = None,
    components: Mapping[str, Any] | None = None,
) -> Dyna:
    """Create the agent that the settings describe, for an environment or its space.

    `factory` creates the environments of a space that is stepped in Python. `components` were
    created in Python, by kind, such as "model"; they replace those of the settings.
    """
    recipe, objects = recipe_of(config.algorithm), components or {}
    classes = component_classes(config, space.num_actions == 0, space.on_host)
    _check_names(config, space, objects, classes)

    config = replace(config, settings=defaults_of(classes) | dict(config.settings))

    def component(kind: str, **others: Any) -> Any:
        if kind in objects:
            return objects[kind]
        return create(kind, classes[kind], config.of_component(kind), **others)

    dyna: Dyna = create(
        "",
        Dyna,
        config.of_component(""),
        env=space,
        learner=component("learner").bind(space),
        replay=component("replay"),
        planning=None,
    )
    if dyna.scale_observations is None:
        dyna = replace(dyna, scale_observations=True)
    if recipe.search_control is not None:
        model = component("model")
        if isinstance(model, MODELS["true"]) and space.on_host:
            assert factory is not None
            model = host_model(factory, space)
        planning: Planning = component(
            "planning",
            search_control=component("search_control"),
            model=model.bind(space),
            trust=component("trust"),
            simulated=0,
        )
        if planning.model_updates > 1 and not planning.model.learn_batch:
            raise FreqdynaError(
                f"planning.model_updates is {planning.model_updates}, but the model does not learn"
            )
        if planning.rollout_length > 1 and not planning.weighs:
            raise FreqdynaError(
                f"planning.rollout_length is {planning.rollout_length}; it must be 1 with trust "
                "'always'"
            )
        simulated = round(planning.simulated_share * dyna.batch_size)
        dyna = replace(dyna, planning=replace(planning, simulated=simulated))
    return dyna


def make_learner(config: Config, space: Space) -> Learner:
    """The learner of an agent."""
    kind = component_classes(config, space.num_actions == 0, space.on_host)["learner"]
    learner: Learner = create("learner", kind, config.of_component("learner"))
    return learner.bind(space)


def _check_names(
    config: Config, space: Space, objects: Mapping[str, Any], classes: Mapping[str, type]
) -> None:
    """Raise an error for names and components that do not fit to the algorithm."""
    require_known(config, classes)
    for kind in objects:
        if kind not in classes:
            raise FreqdynaError(f"{kind} is set, but algorithm {config.algorithm!r} has none")
    learner = objects.get("learner")
    if learner is not None and type(learner) is not classes["learner"]:
        raise FreqdynaError(
            f"learner is {type(learner).__name__}; that of {config.algorithm!r} on {space.name!r} "
            f"must be {classes['learner'].__name__}"
        )
    if recipe_of(config.algorithm).learner is NAF and space.num_actions:
        others = [name for name, other in ALGORITHMS.items() if other.learner is not NAF]
        raise FreqdynaError(
            f"algorithm is {config.algorithm!r}, but the actions of {space.name!r} are discrete; "
            f"choose one of {', '.join(others)}"
        )


def require_known(config: Config, classes: Mapping[str, type]) -> None:
    """Raise an error for a component or a setting that a run does not have."""
    require_search_control(config)
    known = [*settings_of(Config), *settings_of(classes[""])]
    for kind, part in classes.items():
        known += [f"{kind}.{name}" for name in settings_of(part) if kind]
    for name, value in config.flat().items():
        kind = name.partition(".")[0]
        if kind == "env" and kind not in classes:
            continue  # the arguments of Gymnasium's environments are not known
        if kind in COMPONENTS and kind not in classes and value is not None:
            raise FreqdynaError(f"{name} is set, but algorithm {config.algorithm!r} has no {kind}")
        if name not in known:
            for learner in (DQN, SAC, NAF):
                if kind == "learner" and name.partition(".")[2] in settings_of(learner):
                    raise FreqdynaError(
                        f"{name} is a setting of {learner.__name__}, but this run learns with "
                        f"{classes['learner'].__name__}, because of its actions or its algorithm"
                    )
            raise unknown_name("setting", name, known)


def require_search_control(config: Config) -> None:
    """Raise an error for a search-control that the algorithm does not take."""
    recipe, chosen = recipe_of(config.algorithm), config.search_control
    if chosen not in (None, recipe.search_control) and not recipe.any_search_control:
        raise FreqdynaError(
            f"search_control is {chosen!r}, but algorithm {config.algorithm!r} has its own or "
            "none; use algorithm 'dyna'"
        )


def complete(config: Config, agent: Dyna) -> Config:
    """The settings with every setting of every component of the agent."""
    space, planning = agent.env, agent.planning
    parts: dict[str, Component] = {"": agent, "learner": agent.learner, "replay": agent.replay}
    names: dict[str, Any] = {}
    if planning is not None:
        parts["planning"] = planning
        parts |= {"search_control": planning.search_control, "model": planning.model}
        parts["trust"] = planning.trust
        names["search_control"] = SEARCH_CONTROLS.full_name(type(planning.search_control))
        names["model"] = MODELS.full_name(type(planning.model))
        names["trust"] = TRUSTS.full_name(type(planning.trust))
        if space.on_host and config.model == "true":
            names["model"] = "true"
    settings: dict[str, Any] = {}
    for kind, part in parts.items():
        prefix = f"{kind}." if kind else ""
        settings |= {prefix + name: value for name, value in values_of(part).items()}
    if isinstance(space, Environment):
        declared, built_in = settings_of(type(space)), type(space) in ENVIRONMENTS.values()
        settings |= {
            f"env.{name}": value
            for name, value in values_of(space).items()
            # Of a user's class only the changes, because no label could compare with its defaults.
            if built_in or name == "episode_limit" or value != declared[name].default
        }
    else:
        settings |= {n: v for n, v in config.settings.items() if n.startswith("env.")}
        settings["env.episode_limit"] = space.episode_limit  # type: ignore[attr-defined]
    return replace(config, **names, settings=settings)


def completed(config: Config) -> Config:
    """The same for a compiled environment; others are not known before they are created.

    Neither are components of the user's own code that is not imported.
    """
    modules = map(module_of, config.named.values())
    is_known = all(module is None or module in sys.modules for module in modules)
    if config.env not in ENVIRONMENTS or not is_known:
        return config
    env = make(config.env, **config.of_component("env"))
    return complete(config, build(config, env))
