"""Functions of the user that are called at each evaluation, and the metrics that they return."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, RunFailedError, one_line
from freqdyna.core.user_code import user_line
from freqdyna.results.complete_seeds import DIVERGED_AT
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
    """Widths of the network's layers; empty for a tabular agent."""

    def network(self, seed: SupportsInt) -> Any:
        """The network of one seed, as `Result.network` returns it."""
        rows = np.flatnonzero(self.seeds == int(seed))
        if not len(rows):
            raise FreqdynaError(f"seed is {seed}; it must be one of {self.seeds.tolist()}")
        return network_of(self.config, self.parameters[rows[0]], self.layer_sizes)


Callback = Callable[[Evaluation], Mapping[str, Any] | None]
"""Called at each evaluation; it may return metrics, each a number or an array over seeds."""


def as_callbacks(given: Any) -> tuple[Callback, ...]:
    """The callbacks that were passed to `train`; raises an error if one cannot be called."""
    found = tuple(given) if isinstance(given, Sequence) else (given,) * (given is not None)
    for callback in found:
        if not callable(callback):
            raise FreqdynaError(f"callback is {callback!r}; it must be a function, or several")
    return found


def custom_metrics(callbacks: Sequence[Callback], evaluation: Evaluation) -> dict[str, np.ndarray]:
    """Call the callbacks, and check what they return.

    Args:
        callbacks: The callbacks.
        evaluation: The evaluation, which they must not change.

    Returns:
        The custom metrics by name, each of shape (seeds,); NaN for seeds that diverged.

    Raises:
        RunFailedError: If a callback fails, or returns something else.

    """
    found: dict[str, np.ndarray] = {}
    missing = evaluation.metrics[DIVERGED_AT] >= 0
    for callback in callbacks:
        told = f"the callback {getattr(callback, '__name__', type(callback).__name__)}"
        try:
            returned = callback(evaluation)
        except Exception as error:
            raise RunFailedError(f"{told} fails: {one_line(error)}{user_line(error)}") from error
        if returned is not None and not isinstance(returned, Mapping):
            raise RunFailedError(
                f"{told} returned {type(returned).__name__}; it must be None or a dictionary"
            )
        for name, value in (returned or {}).items():
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise RunFailedError(
                    f"{told} returned the name {name!r}; it must be letters, digits, '_', '-' or "
                    "'.', beginning with a letter"
                )
            if name in found or name in evaluation.metrics or name in ("seed", "step"):
                raise RunFailedError(f"{told} returned the metric {name!r}, which exists already")
            found[name] = _checked(told, name, value, missing)
    return found


def _checked(told: str, name: str, value: Any, missing: np.ndarray) -> np.ndarray:
    """A metric as an array over seeds, with NaN where it is missing."""
    try:
        array = np.array(np.broadcast_to(np.asarray(value, np.float64), missing.shape))
    except (TypeError, ValueError):
        raise RunFailedError(
            f"{told} returned {type(value).__name__} of shape {np.shape(value)} for {name!r}; it "
            f"must be a number, or an array of shape {missing.shape}, one for each seed"
        ) from None
    array[missing] = np.nan
    return array
