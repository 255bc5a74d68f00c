"""Models, which predict the outcome of an action in any state."""

from typing import Any

from freqdyna.agents.models.base import Model, Outcome, check_model
from freqdyna.agents.models.learned import Ensemble, Learned
from freqdyna.agents.models.true import TrueModel
from freqdyna.core.plugins import Registry
from freqdyna.envs.space import Transition

MODELS: Registry[Model[Any]] = Registry("model", Model)
"""The built-in models by name."""
MODELS |= {"true": TrueModel, "learned": Learned, "ensemble": Ensemble}

__all__ = [
    "MODELS",
    "Ensemble",
    "Learned",
    "Model",
    "Outcome",
    "Transition",
    "TrueModel",
    "check_model",
]
