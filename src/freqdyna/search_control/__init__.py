"""Search-control: which states to plan from.

A built-in search-control is a file in this folder whose class is decorated with `@register(name)`,
and a line below. It is then an algorithm, `dyna-NAME`, too.
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
