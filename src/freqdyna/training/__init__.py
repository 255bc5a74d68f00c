"""Training: one run from its first step to its last, for many seeds at once."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freqdyna.training.training import Training

__all__ = ["Training"]


def __getattr__(name: str) -> Any:
    """Load `Training`, and JAX with it, on first use: the command line starts without them."""
    if name != "Training":
        raise AttributeError(f"module 'freqdyna.training' has no attribute {name!r}")
    from freqdyna.training.training import Training

    return Training
