"""Models, which predict the outcome of an action in any state."""

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.agents.models.contract import check_model, require_disagreement
from freqdyna.agents.models.ensemble_model import EnsembleModel
from freqdyna.agents.models.learned_model import LearnedModel
from freqdyna.agents.models.registry import MODELS, find, full_name, make
from freqdyna.agents.models.true_model import TrueModel
from freqdyna.envs.transition import Transition

__all__ = [
    "MODELS",
    "EnsembleModel",
    "LearnedModel",
    "Model",
    "Outcome",
    "Transition",
    "TrueModel",
    "check_model",
    "find",
    "full_name",
    "make",
    "require_disagreement",
]
