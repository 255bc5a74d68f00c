"""Everything that the paper contains, and where it is to be found here."""

import importlib
from dataclasses import dataclass

from freqdyna.errors import FreqdynaError, unknown_name
from freqdyna.experiments.base import Experiment


@dataclass(frozen=True)
class Part:
    """A part of the paper, or a check of ours."""

    title: str
    where: str = ""
    """Parts that are no experiment: where they are in the software; empty: not built yet."""
    experiment: bool = False


PARTS: dict[str, Part] = {
    "E1": Part("example 1: squared derivatives of f_sin", experiment=True),
    "E2": Part("example 2: Fourier series and derivatives", experiment=True),
    "T1": Part("theorem 1: gradient, Hessian and local frequency", experiment=True),
    "U": Part("the uncertainty principle", experiment=True),
    "F1": Part("regression, data biased to the high frequency", experiment=True),
    "F2": Part("regression, data biased by gradient or Hessian", experiment=True),
    "F3": Part("MountainCar, learning curves", experiment=True),
    "F4": Part("MazeGridWorld, learning curves", experiment=True),
    "F5": Part("MazeGridWorld, states in the queue", experiment=True),
    "F6": Part("climbing the gradient or Hessian norm alone", experiment=True),
    "F7": Part("NAF and DynaNAF-Frequency on Hopper and Walker2d", experiment=True),
    "F8": Part("MazeGridWorld, states in queue and replay", experiment=True),
    "A1": Part("tabular Dyna", "freqdyna train --algorithm tabular-dyna-q"),
    "A2": Part("HC-Dyna (Dyna-Value)", "freqdyna train --algorithm dyna-value"),
    "A3": Part("frequency-based search-control", "freqdyna train --algorithm dyna-frequency"),
    "X1": Part("unsuccessful trials: climbing V + g and V·g", experiment=True),
    "X2": Part("weights in g", "settings gradient_weight and hessian_weight"),
    "X3": Part("future work: combined search-controls"),
    "S": Part("ours: which open choice moves which claim", experiment=True),
    "R": Part("ours: the ranking at equal tuning, and at equal compute", experiment=True),
    "B": Part("ours: g beside the local bandwidth of learned values", experiment=True),
}


def find(name: str) -> Experiment:
    """The experiment of that name; any other name is refused."""
    known = [key for key, part in PARTS.items() if part.experiment]
    if name in known:
        module = importlib.import_module(f"freqdyna.experiments.{name.lower()}")
        return module.EXPERIMENT
    if name not in PARTS:
        raise unknown_name("part of the paper", name, ["list", "table", *known])
    where = PARTS[name].where
    raise FreqdynaError(
        f"{name} is no experiment: {where}"
        if where
        else f"{name} is not built yet; those that are: {', '.join(known)}"
    )
