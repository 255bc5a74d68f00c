"""Dyna-GradNorm: the paper's search-control with g = ‖∇V‖² alone (appendix A.5)."""

from dataclasses import replace

from freqdyna.config import Config
from freqdyna.search_control.frequency import FrequencySearch


class GradientNormSearch(FrequencySearch):
    """As `frequency`, climbing ‖∇V‖² alone."""

    @classmethod
    def from_config(cls, config: Config) -> FrequencySearch:
        """The configuration's settings, the other term's weight set to zero."""
        return super().from_config(replace(config, hessian_weight=0.0))
