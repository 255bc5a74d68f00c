"""What experiments read of stored trainings: curves, states, and one number for each seed."""

from typing import Any

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.comparison.statistics import first_step_above
from freqdyna.results.record import Record
from reproduction.base import Stored
from reproduction.trainings import QUICK, STEPS


def pick(units: dict[str, Stored], longer: bool = False, **settings: Any) -> Stored | None:
    """The training with exactly these settings, of any size; None if there is none.

    Args:
        units: The stored units by name.
        longer: Whether to pick the one that was trained for more than STEPS.
        **settings: Its settings, without those of its size.

    """
    size = {"seeds", "steps", *QUICK}
    for stored in units.values():
        own = {k: v for k, v in stored.settings.items() if k not in size}
        if own == settings and longer == (stored.settings.get("steps", 0) > STEPS):
            return stored
    return None


def curves(stored: Stored, metric: str = "return") -> tuple[np.ndarray, np.ndarray]:
    """The learning curves of a stored training.

    Seeds that diverged or stopped are left out here, and therefore in everything below.

    Args:
        stored: The training.
        metric: One of `METRICS`.

    Returns:
        The evaluated steps, shape (evaluations,), and the metric, shape (seeds, evaluations).

    """
    record = training_of(stored)
    kept = record.complete_seeds.kept
    return record.steps, record.metrics[metric][kept].astype(np.float64)


def seeds_of(stored: Stored) -> np.ndarray:
    """The seeds of the rows of `curves`, shape (seeds,)."""
    record = training_of(stored)
    return record.seeds[record.complete_seeds.kept]


def left_out(*trainings: Stored) -> str:
    """The seeds that statistics of these trainings are computed over, if any are left out.

    Returns:
        A text such as "seeds: 27 of 30 (3 diverged) and 30"; empty if none is left out.

    """
    found = [training_of(stored).complete_seeds for stored in trainings]
    if not any(complete.left_out for complete in found):
        return ""
    numbers = [c.number + (f" ({c.reasons})" if c.left_out else "") for c in found]
    return f"seeds: {' and '.join(numbers)}"


def states(stored: Stored, store: str, step: int | None = None) -> np.ndarray:
    """States of "queue" or "replay" at a step, by default the last, shape (seeds, states, 2)."""
    record = training_of(stored)
    if not record.snapshots:
        raise FreqdynaError(
            f"{record!r} was stored without its states; remove its files to recompute it"
        )
    kept = record.complete_seeds.kept
    return record.snapshots[step or max(record.snapshots)][store][kept].astype(np.float64)


def training_of(stored: Stored) -> Record:
    """The training of a unit that is one, with all of its seeds."""
    assert stored.record is not None, "the unit is not a training"
    return stored.record


def machines(*trainings: Stored) -> list[str]:
    """The kinds of machines that computed these trainings; only those of one kind are compared."""
    return sorted({str(stored.provenance.get("device_kind")) for stored in trainings})


def area(stored: Stored) -> np.ndarray:
    """The mean return of each seed after the warm-up (the area under its curve), shape (seeds,)."""
    _, returns = curves(stored)
    return returns[:, training_of(stored).after_warmup].mean(axis=1)


def final(stored: Stored) -> np.ndarray:
    """The mean return of each seed in the last tenth of its steps, shape (seeds,)."""
    steps, returns = curves(stored)
    return returns[:, steps > steps[-1] * 0.9].mean(axis=1)


def unlearned(stored: Stored) -> np.ndarray:
    """Which seeds have not learned: their final return is below −1500, with a minimum of −2000."""
    return final(stored) < -1500


def steps_to(stored: Stored, threshold: float) -> np.ndarray:
    """The step of each seed's first evaluation above a threshold; infinite if there is none."""
    steps, returns = curves(stored)
    return first_step_above(steps, returns, threshold)
