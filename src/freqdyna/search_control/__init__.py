"""Search-control: which states to plan from.

To add a built-in search-control, decorate its class with `@register(name)` in a file of this folder
and add an import below. The algorithm `dyna-NAME` then exists as well.
"""

# The built-in search-controls, in the order in which they are listed.
# isort: off
from freqdyna.search_control.value import ValueSearch as ValueSearch
from freqdyna.search_control.frequency import FrequencySearch as FrequencySearch
from freqdyna.search_control.frequency import GradientNormSearch as GradientNormSearch
from freqdyna.search_control.frequency import HessianNormSearch as HessianNormSearch
from freqdyna.search_control.combined import ValuePlusFrequencySearch as ValuePlusFrequencySearch
from freqdyna.search_control.combined import ValueTimesFrequencySearch as ValueTimesFrequencySearch
from freqdyna.search_control.replay import ReplaySearch as ReplaySearch
from freqdyna.search_control.uniform import UniformSearch as UniformSearch
from freqdyna.search_control.td_error import TDErrorSearch as TDErrorSearch
from freqdyna.search_control.parallel_climb import (
    ParallelFrequencySearch as ParallelFrequencySearch,
)
from freqdyna.search_control.td_climb import TDClimbSearch as TDClimbSearch
from freqdyna.search_control.prioritized_sweeping import (
    PrioritizedSweepingSearch as PrioritizedSweepingSearch,
)
# isort: on

from freqdyna.search_control.base import (
    SEARCH_CONTROLS,
    Proposal,
    Search,
    SearchControl,
    State,
    register,
)
from freqdyna.search_control.hill_climb import HillClimb

__all__ = [
    "SEARCH_CONTROLS",
    "HillClimb",
    "Proposal",
    "Search",
    "SearchControl",
    "State",
    "register",
]
