"""Statistics over seeds."""

import numpy as np


def complete_seeds(values: np.ndarray) -> np.ndarray:
    """Which rows of (seeds, evaluations) have all their numbers: seeds that ended early do not."""
    return np.isfinite(values).all(axis=1)


def seeds_text(kept: np.ndarray) -> str:
    """How many seeds there are, and how many of them were kept if not all."""
    return f"{len(kept)}" if kept.all() else f"{kept.sum()} of {len(kept)}"


def bootstrap_interval(
    values: np.ndarray, level: float = 0.95, resamples: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval of the mean over the first axis (seeds).

    `values` has shape (seeds, ...); both bounds have shape (...). The same seeds are redrawn for
    all of the other axes, and the draws are the same at every call.
    """
    generator = np.random.default_rng(0)
    seeds = values.shape[0]
    # How often each seed occurs in each resample, so that all means are one matrix product.
    counts = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples)
    means = np.tensordot(counts / seeds, values, axes=1)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)
