"""The local frequency of a function (the paper's equation 3)."""

from freqdyna.frequency.local import Derivatives, local_frequency, local_frequency_gradient

__all__ = ["Derivatives", "local_frequency", "local_frequency_gradient"]
