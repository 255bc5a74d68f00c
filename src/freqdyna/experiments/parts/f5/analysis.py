"""The evaluation of F5: how many states of the queue are near a hole at the end."""

import numpy as np

from freqdyna import envs
from freqdyna.experiments import claims
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge, mean_with_interval
from freqdyna.experiments.parts.f5.units import ALGORITHMS
from freqdyna.experiments.parts.maze import PAPER, by_name, near_holes, near_holes_if_learned
from freqdyna.experiments.trainings import left_out, states, training_of, unlearned
from freqdyna.results.chart import Chart, Points
from freqdyna.results.state_map import map_panel


def analyse(units: dict[str, Stored]) -> Findings:
    """A scatter plot of the first seed's queue for each algorithm; the shares of all seeds."""
    found = by_name(units)
    env = envs.make("MazeGridWorld")
    queues = {name: states(found[name], "queue") for name in ALGORITHMS}
    shares = {name: near_holes(queue) for name, queue in queues.items()}
    panels = [
        map_panel(
            env,
            f"{name}: {shares[name][0]:.1f}% near a hole",
            [Points(queue[0, :, 0], queue[0, :, 1], "tab:blue")],
        )
        for name, queue in queues.items()
    ]
    title = "F5: the search-control queue at the end, first seed"
    chart = Chart(panels, title, panel_size=(4.6, 4.6))
    trained = len(training_of(found[ALGORITHMS[0]]).seeds)
    rows = [["share near a hole", "mean over seeds", "minimum", "maximum"]]
    for name, share in shares.items():
        seeds = left_out(found[name])
        label, mean = f"{name}; {seeds}" if seeds else name, mean_with_interval(share, 1, "%")
        rows.append([label, mean, f"{share.min():.1f}%", f"{share.max():.1f}%"])
    found_claims = [
        claims.share(
            f"{name}: queue states within 0.1 of a hole, seeds that learned",
            PAPER[name],
            near_holes_if_learned(found[name]),
        )
        for name in ALGORITHMS
    ]
    both = [found[name] for name in ALGORITHMS]
    found_claims += judge(
        [
            Comparison.of(
                "share near a hole: Dyna-Frequency − Dyna-Value, percentage points",
                "above 0",
                lambda stored: near_holes(states(stored, "queue")),
                *both,
            )
        ]
    )
    note = f"Each of the {trained} seeds is one sample; the paper shows one queue per algorithm."
    return Findings(chart, found_claims, rows, (note, _by_outcome(found, shares)))


def _by_outcome(found: dict[str, Stored], shares: dict[str, np.ndarray]) -> str:
    """The shares of the seeds that learned, and separately of those that did not."""
    parts = []
    for name, share in shares.items():
        lost = unlearned(found[name])
        for of, where in ((~lost, "above"), (lost, "below")):
            if of.any():
                parts.append(
                    f"{name}, {of.sum()} seeds that end {where} −1500: "
                    f"{mean_with_interval(share[of], 1, '%')}"
                )
    return "By outcome: " + "; ".join(parts) + "."
