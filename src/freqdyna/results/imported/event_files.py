"""Curves in TensorBoard event files (extra `tensorboard`)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.results.imported.curves import Curve, sorted_curve

PREFIX = "events.out.tfevents"
"""The beginning of the names of event files."""
TRAINING_TAGS = ("rollout/ep_rew_mean", "charts/episodic_return")
"""The names of returns of training episodes in the events of Stable-Baselines3 and CleanRL."""
TAGS = ("eval/mean_reward", *TRAINING_TAGS)
"""The names of returns in the events of Stable-Baselines3 and CleanRL, in order of preference."""


def read_events(paths: Sequence[Path], seed: int, tag: str | None) -> tuple[Curve, str]:
    """The curve of one scalar in the event files of one training.

    Args:
        paths: The files; several values at one step are averaged.
        seed: The seed of the curve.
        tag: The name of the scalar; None for the first of `TAGS` that the files have.

    Returns:
        The curve, and the name of the scalar.

    """
    scalars: dict[str, list[tuple[int, float]]] = {}
    for path in paths:
        for name, points in _scalars(path).items():
            scalars.setdefault(name, []).extend(points)
    chosen = tag or next((known for known in TAGS if known in scalars), None)
    if chosen is None or chosen not in scalars:
        has = ", ".join(sorted(scalars)) or "none"
        given = "unset" if tag is None else repr(tag)
        raise FreqdynaError(
            f"tag is {given}; it must be the name of a scalar in {paths[0]}, which has {has}"
        )
    steps, values = zip(*scalars[chosen], strict=True)
    if min(steps) < 0:
        raise FreqdynaError(f"{paths[0]} has a negative step of {chosen}; it must be 0 or greater")
    return sorted_curve(seed, np.array(steps, np.int64), np.array(values, np.float64)), chosen


def _scalars(path: Path) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of all scalars in an event file, by name."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
        from tensorboard.util import tensor_util
    except ImportError:
        raise FreqdynaError(
            f"TensorBoard event files need the extra 'tensorboard': {installing('tensorboard')}"
        ) from None
    found: dict[str, list[tuple[int, float]]] = {}
    try:
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                # The loader has converted simple values to tensors.
                if value.metadata.plugin_data.plugin_name in ("", "scalars"):
                    number = tensor_util.make_ndarray(value.tensor)
                    if number.size == 1 and number.dtype.kind in "biuf":
                        found.setdefault(value.tag, []).append((event.step, float(number.item())))
    except Exception as error:  # a damaged file fails in more ways than can be listed
        raise FreqdynaError(
            f"{path} cannot be read as a TensorBoard event file: {type(error).__name__}"
        ) from None
    return found
