"""The local frequency of a function (the paper's equation 3)."""

from freqdyna.frequency.local import (
    Derivatives,
    Slopes,
    local_frequency,
    local_frequency_gradient,
    reverse_slopes,
)

__all__ = [
    "Derivatives",
    "Slopes",
    "local_frequency",
    "local_frequency_gradient",
    "reverse_slopes",
]
