"""Training: runs of many seeds at once, with checkpoints and progress."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freqdyna.training.seeds import Training

__all__ = ["Training"]


def __getattr__(name: str) -> Any:
    """Load `Training` and JAX on first use, so that the command line starts without them."""
    if name != "Training":
        raise AttributeError(f"module 'freqdyna.training' has no attribute {name!r}")
    from freqdyna.training.seeds import Training

    return Training
