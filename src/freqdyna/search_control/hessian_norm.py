"""Dyna-HessNorm: the paper's search-control with g = ‖H_V‖²_F alone (appendix A.5)."""

from dataclasses import replace

from freqdyna.config import Config
from freqdyna.search_control.frequency import FrequencySearch


class HessianNormSearch(FrequencySearch):
    """As `frequency`, climbing ‖H_V‖²_F alone."""

    @classmethod
    def from_config(cls, config: Config) -> FrequencySearch:
        """The configuration's settings, the other term's weight set to zero."""
        return super().from_config(replace(config, gradient_weight=0.0))
