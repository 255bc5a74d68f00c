"""The local frequency of a function (the paper's equation 3).

`local_frequency` is g; `stochastic_slopes` estimates its gradient without the Hessian.
"""

from freqdyna.frequency.local import (
    Derivatives,
    Slopes,
    local_frequency,
    local_frequency_gradient,
    reverse_slopes,
)
from freqdyna.frequency.stochastic import random_signs, stochastic_frequency, stochastic_slopes

__all__ = [
    "Derivatives",
    "Slopes",
    "local_frequency",
    "local_frequency_gradient",
    "random_signs",
    "reverse_slopes",
    "stochastic_frequency",
    "stochastic_slopes",
]
