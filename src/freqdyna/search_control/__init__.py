"""Search-control: which states to plan from.

To add a built-in search-control, decorate its class with `@register(name)` in a file of this folder
and add an import below. The algorithm `dyna-NAME` then exists as well.
"""

# The built-in search-controls, in the order in which they are listed.
# isort: off
from freqdyna.search_control import value as value
from freqdyna.search_control import frequency as frequency
from freqdyna.search_control import combined as combined
from freqdyna.search_control import replay as replay
from freqdyna.search_control import uniform as uniform
# isort: on

from freqdyna.search_control.base import Proposal, Search, SearchControl, State
from freqdyna.search_control.hill_climb import HillClimb
from freqdyna.search_control.registry import (
    SEARCH_CONTROLS,
    find,
    full_name,
    make,
    register,
    summary,
)

__all__ = [
    "SEARCH_CONTROLS",
    "HillClimb",
    "Proposal",
    "Search",
    "SearchControl",
    "State",
    "find",
    "full_name",
    "make",
    "register",
    "summary",
]
