"""Settings that have no effect with an algorithm, which the user is told."""

from freqdyna.agents import algorithms, models
from freqdyna.config import Config
from freqdyna.config.config import decided_by_environment
from freqdyna.envs.space import Space
from freqdyna.search_control import SEARCH_CONTROLS

_BUILT_IN_MODELS = tuple(models.MODELS)
_LEARNING_MODELS = ("learned", "ensemble")
_OF_MODELS = {
    "rollout_length": _BUILT_IN_MODELS,
    "model_updates": _LEARNING_MODELS,
    "model_termination": _LEARNING_MODELS,
    "model_learning_rate": _LEARNING_MODELS,
    "model_hidden": _LEARNING_MODELS,
    "ensemble_size": ("ensemble",),
    "ensemble_outcome": ("ensemble",),
}
"""Settings of models, and the built-in models that have them."""
_BUILT_IN_SEARCH_CONTROLS = tuple(SEARCH_CONTROLS)
_SIDE_BY_SIDE = ("parallel-frequency", "parallel-value", "td-climb")
_OF_SEARCH_CONTROLS = {
    "search_candidates": ("td-error", "disagreement", "prioritized-sweeping"),
    "mixture": ("mixture", "bandit"),
    "mixture_shares": ("mixture",),
    "bandit_period": ("bandit",),
    "bandit_rate": ("bandit",),
    "climb_iterations": _SIDE_BY_SIDE,
    "climb_persistent": _SIDE_BY_SIDE,
}
"""Settings of single search-controls, and the built-in search-controls that have them."""


def without_effect(config: Config, space: Space) -> str | None:
    """A sentence about settings of models and search-controls without effect; None if all have one.

    They are no error, because a sweep or a configuration file may be for several algorithms. A
    user's model or search-control may use any of them.

    Args:
        config: The settings of the run, all of them set.
        space: The environment or its space.

    """
    usual = {**decided_by_environment(), **space.default_settings}
    recipe = algorithms.find(config.algorithm)
    changed = [
        name
        for name in (*_OF_MODELS, *_OF_SEARCH_CONTROLS)
        if getattr(config, name) != usual.get(name, getattr(Config, name))
    ]
    if not recipe.has_model:
        return _told(changed, f"{config.algorithm!r} has no model")
    told = []
    if config.model in _BUILT_IN_MODELS:
        unused = [n for n in changed if n in _OF_MODELS and config.model not in _OF_MODELS[n]]
        told.append(_told(unused, f"model is {config.model!r}"))
    control = config.search_control or recipe.search_control
    used = {control, *(config.mixture if control in _OF_SEARCH_CONTROLS["mixture"] else ())}
    if used <= set(_BUILT_IN_SEARCH_CONTROLS):
        unused = [n for n in changed if used.isdisjoint(_OF_SEARCH_CONTROLS.get(n, used))]
        told.append(_told(unused, f"the search-control is {control!r}"))
    return "; ".join(filter(None, told)) or None


def _told(names: list[str], why: str) -> str | None:
    """The sentence about these settings; None if there are none."""
    if not names:
        return None
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no effect, because {why}"
