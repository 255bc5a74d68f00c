"""Functions of the user that are called at each evaluation, and the metrics that they return."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, note_where
from freqdyna.results.record import DIVERGED_AT
from freqdyna.results.result import network_of

_NAME = re.compile(r"[A-Za-z][\w.-]{0,99}")


@dataclass(frozen=True)
class Evaluation:
    """What a callback receives."""

    step: int
    """The number of steps that every seed has taken."""
    config: Config
    """The settings of the run."""
    seeds: np.ndarray
    """The seeds, shape (seeds,)."""
    metrics: dict[str, np.ndarray]
    """The metrics of this evaluation by name, each of shape (seeds,); see `docs/metrics.md`."""
    parameters: np.ndarray
    """The current parameters, one flat vector per seed, shape (seeds, p)."""
    layer_sizes: tuple[int, ...]
    """Widths of the network's layers."""

    def network(self, seed: SupportsInt) -> Any:
        """The network of one seed, as `Result.network` returns it."""
        rows = np.flatnonzero(self.seeds == int(seed))
        if not len(rows):
            raise FreqdynaError(f"seed is {seed}; it must be one of {self.seeds.tolist()}")
        return network_of(self.config, self.parameters[rows[0]], self.layer_sizes)


Callback = Callable[[Evaluation], Mapping[str, Any] | None]
"""Called at each evaluation; it may return metrics, each a number or an array over seeds."""


def as_callbacks(callback: Any) -> tuple[Callback, ...]:
    """The callbacks that were passed to `train`; raises an error if one cannot be called."""
    several = isinstance(callback, Sequence)
    callbacks = tuple(callback) if several else (callback,) * (callback is not None)
    for one in callbacks:
        if not callable(one):
            raise FreqdynaError(f"callback is {one!r}; it must be a function, or several")
    return callbacks


def custom_metrics(callbacks: Sequence[Callback], evaluation: Evaluation) -> dict[str, np.ndarray]:
    """The metrics that the callbacks return, by name: (seeds,), NaN for seeds that diverged."""
    metrics: dict[str, np.ndarray] = {}
    diverged = evaluation.metrics[DIVERGED_AT] >= 0
    for callback in callbacks:
        named = f"the callback {getattr(callback, '__name__', type(callback).__name__)}"
        contract = f"{named} must return None, or metrics by name, each a number or one per seed"
        with note_where(f"at step {evaluation.step:,}; {contract}"):
            returned = dict(callback(evaluation) or {})
            arrays = {
                name: np.array(np.broadcast_to(np.asarray(value, np.float64), diverged.shape))
                for name, value in returned.items()
            }
        for name, array in arrays.items():
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise FreqdynaError(
                    f"{named} returned the name {name!r}; it must be letters, digits, '_', '-' or "
                    "'.', beginning with a letter"
                )
            if name in metrics or name in evaluation.metrics or name in ("seed", "step"):
                raise FreqdynaError(f"{named} returned the metric {name!r}, which exists already")
            array[diverged] = np.nan
            metrics[name] = array
    return metrics
