"""Models, which predict the outcome of an action in any state."""

from typing import Any

from freqdyna.agents.models.base import Model as Model
from freqdyna.agents.models.base import Outcome as Outcome
from freqdyna.agents.models.base import check_model as check_model
from freqdyna.agents.models.ensemble import Ensemble as Ensemble
from freqdyna.agents.models.learned import Learned as Learned
from freqdyna.agents.models.true import TrueModel as TrueModel
from freqdyna.core.plugins import Registry
from freqdyna.envs.space import Transition as Transition

MODELS: Registry[Model[Any]] = Registry("model", Model)
"""The built-in models by name."""
MODELS |= {"true": TrueModel, "learned": Learned, "ensemble": Ensemble}
