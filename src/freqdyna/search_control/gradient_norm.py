"""Dyna-GradNorm: the paper's search-control with g = ‖∇V‖² alone (appendix A.5)."""

from dataclasses import replace

from freqdyna.config import Config
from freqdyna.search_control.frequency import FrequencySearch


def gradient_norm_search(config: Config) -> FrequencySearch:
    """The frequency search with the hessian's weight set to zero."""
    return FrequencySearch.from_config(replace(config, hessian_weight=0.0))
