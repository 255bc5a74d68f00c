"""Search-control: which states to plan from.

To add a built-in search-control, decorate its class with `@register(name)` in a file of this folder
and add an import below. The algorithm `dyna-NAME` then exists as well.
"""

# The built-in search-controls, in the order in which they are listed.
# isort: off
from freqdyna.search_control.frequency import (
    Frequency as Frequency,
    GradientNorm as GradientNorm,
    HessianNorm as HessianNorm,
    Value as Value,
    ValuePlusFrequency as ValuePlusFrequency,
    ValueTimesFrequency as ValueTimesFrequency,
)
from freqdyna.search_control.sampling import FromReplay as FromReplay
from freqdyna.search_control.sampling import TDError as TDError
from freqdyna.search_control.sampling import Uniform as Uniform
# isort: on

from freqdyna.search_control.base import SEARCH_CONTROLS as SEARCH_CONTROLS
from freqdyna.search_control.base import Proposal as Proposal
from freqdyna.search_control.base import Search as Search
from freqdyna.search_control.base import SearchControl as SearchControl
from freqdyna.search_control.base import State as State
from freqdyna.search_control.base import register as register
from freqdyna.search_control.climb import HillClimb as HillClimb
