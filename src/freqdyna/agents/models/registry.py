"""Models by name: the built-in ones, and `module:Class`."""

from typing import Any

from freqdyna.agents.models.base import Model
from freqdyna.agents.models.ensemble_model import EnsembleModel
from freqdyna.agents.models.learned_model import LearnedModel
from freqdyna.agents.models.true_model import TrueModel
from freqdyna.config import Config
from freqdyna.core.code_names import module_of, named_class
from freqdyna.core.errors import unknown_name
from freqdyna.core.user_code import created
from freqdyna.envs.space import Space

MODELS: dict[str, type[Model[Any]]] = {
    "true": TrueModel,
    "learned": LearnedModel,
    "ensemble": EnsembleModel,
}
"""The built-in models."""


def find(name: str, allow_code: bool = False) -> type[Model[Any]]:
    """The class of a model.

    Args:
        name: A name of MODELS, or `module:Class` to import the class from a module.
        allow_code: Whether the module may be imported; not needed if it is imported already.

    """
    if name in MODELS:
        return MODELS[name]
    if module_of(name) is None:
        raise unknown_name("model", name, MODELS)
    base: Any = Model  # it is abstract, which mypy does not accept for a type
    return named_class("model", name, base, "freqdyna.agents.models.Model", allow_code)


def full_name(model: type[Model[Any]]) -> str:
    """The name of a built-in class, or `module:Class`; another process can find the class by it."""
    for name, known in MODELS.items():
        if known is model:
            return name
    return f"{model.__module__}:{model.__qualname__}"


def make(model: type[Model[Any]], config: Config, space: Space) -> Model[Any]:
    """Create a model with the settings of a run.

    Args:
        model: The class.
        config: The settings, all of them set.
        space: The environment, or only its space.

    """
    made: Model[Any] = created(model, Model, f"model is {full_name(model)!r}", config, space)
    return made
