"""Every part of the paper, and where it is implemented."""

from dataclasses import dataclass

from freqdyna.core.errors import FreqdynaError, unknown_name
from reproduction.base import Experiment
from reproduction.parts import (
    a1,
    bandwidth,
    derivatives,
    e1,
    e2,
    equal_budget,
    f1,
    f2,
    f3,
    f4,
    f5,
    f6,
    f7,
    f8,
    open_choices,
    t1,
    uncertainty,
    x1,
)


@dataclass(frozen=True)
class Part:
    """A part of the paper, or one of our own checks."""

    title: str
    where: str = ""
    """For parts that are not experiments: where they are implemented."""
    experiment: Experiment | None = None


PARTS: dict[str, Part] = {
    "E1": Part("example 1: squared derivatives of f_sin", experiment=e1.EXPERIMENT),
    "E2": Part("example 2: Fourier series and derivatives", experiment=e2.EXPERIMENT),
    "T1": Part("theorem 1: gradient, Hessian and local frequency", experiment=t1.EXPERIMENT),
    "U": Part("the uncertainty principle", experiment=uncertainty.EXPERIMENT),
    "F1": Part("regression, data biased to the high frequency", experiment=f1.EXPERIMENT),
    "F2": Part("regression, data biased by gradient or Hessian", experiment=f2.EXPERIMENT),
    "F3": Part("MountainCar, learning curves", experiment=f3.EXPERIMENT),
    "F4": Part("MazeGridWorld, learning curves", experiment=f4.EXPERIMENT),
    "F5": Part("MazeGridWorld, states in the queue", experiment=f5.EXPERIMENT),
    "F6": Part("climbing only the gradient or the Hessian norm", experiment=f6.EXPERIMENT),
    "F7": Part("NAF and DynaNAF-Frequency on Hopper and Walker2d", experiment=f7.EXPERIMENT),
    "F8": Part("MazeGridWorld, states in queue and replay buffer", experiment=f8.EXPERIMENT),
    "D": Part("gradients and Hessians of learned values", experiment=derivatives.EXPERIMENT),
    "A1": Part("tabular Dyna", experiment=a1.EXPERIMENT),
    "A2": Part("HC-Dyna (Dyna-Value)", "freqdyna train --algorithm dyna-value"),
    "A3": Part("frequency-based search-control", "freqdyna train --algorithm dyna-frequency"),
    "X1": Part("unsuccessful trials: climbing V + g and V·g", experiment=x1.EXPERIMENT),
    "X2": Part("weights in g", "settings gradient_weight and hessian_weight"),
    "X3": Part(
        "future work: combined search-controls",
        "freqdyna train --algorithm dyna-mixture, or dyna-bandit",
    ),
    "S": Part(
        "own check: which open choice affects which claim", experiment=open_choices.EXPERIMENT
    ),
    "R": Part(
        "own check: ranking with equal tuning or equal compute",
        experiment=equal_budget.EXPERIMENT,
    ),
    "B": Part(
        "own check: g and local bandwidth of learned values", experiment=bandwidth.EXPERIMENT
    ),
}


def find(name: str) -> Experiment:
    """The experiment called `name`.

    Raises:
        FreqdynaError: If there is no experiment of this name.

    """
    known = [key for key, part in PARTS.items() if part.experiment]
    if name not in PARTS:
        raise unknown_name("part of the paper", name, ["list", "table", "overview", *known])
    experiment, where = PARTS[name].experiment, PARTS[name].where
    if experiment is not None:
        return experiment
    raise FreqdynaError(f"{name} is not an experiment: {where}")
