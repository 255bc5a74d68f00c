"""Settings that have no effect with an algorithm, which the user is told."""

from freqdyna.agents import algorithms, models
from freqdyna.config import Config
from freqdyna.config.config import decided_by_environment
from freqdyna.envs.space import Space

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


def without_effect(config: Config, space: Space) -> str | None:
    """A sentence about settings of models that have no effect; None if all have one.

    They are no error, because a sweep or a configuration file may be for several algorithms. A
    user's model may use any of them.

    Args:
        config: The settings of the run, all of them set.
        space: The environment or its space.

    """
    usual = {**decided_by_environment(), **space.default_settings}
    has_model = algorithms.find(config.algorithm).has_model
    names = [
        name
        for name, those in _OF_MODELS.items()
        if getattr(config, name) != usual.get(name, getattr(Config, name))
        and (not has_model or (config.model in _BUILT_IN_MODELS and config.model not in those))
    ]
    if not names:
        return None
    why = f"model is {config.model!r}" if has_model else f"{config.algorithm!r} has no model"
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no effect, because {why}"
