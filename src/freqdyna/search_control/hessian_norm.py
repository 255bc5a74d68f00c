"""Dyna-HessNorm: the paper's search-control with g = ‖H_V‖²_F alone (appendix A.5)."""

from dataclasses import replace

from freqdyna.config import Config
from freqdyna.search_control.frequency import FrequencySearch


def hessian_norm_search(config: Config) -> FrequencySearch:
    """The frequency search with the gradient's weight set to zero."""
    return FrequencySearch.from_config(replace(config, gradient_weight=0.0))
