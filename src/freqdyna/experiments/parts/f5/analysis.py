"""What F5 shows: how many of the queue's states are near a hole at the end."""

import numpy as np

from freqdyna import envs
from freqdyna.envs import MazeGridWorld
from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, interval, judge
from freqdyna.experiments.parts.f4.units import by_name
from freqdyna.experiments.parts.f5.units import ALGORITHMS
from freqdyna.experiments.trainings import states, unlearned
from freqdyna.results.plot_snapshots import frame

RADIUS = 0.1
PAPER = {"Dyna-Frequency": 25.3, "Dyna-Value": 11.7}


def near_holes(drawn: np.ndarray) -> np.ndarray:
    """The share, in percent, of (..., states, 2) that is within 0.1 of some hole's centre."""
    centers = np.array([wall.hole_center for wall in MazeGridWorld.walls])
    distances = np.linalg.norm(drawn[..., None, :] - centers, axis=-1)
    return 100 * (distances <= RADIUS).any(-1).mean(-1)


def analyse(units: dict[str, Stored]) -> Findings:
    """A scatter of the first seed's queue for each algorithm; the shares of all seeds."""
    found = by_name(units)
    env = envs.make("MazeGridWorld")
    figure = drawing.panels(1, 2, width=4.6, height=4.6)
    shares = {name: near_holes(states(found[name], "queue")) for name in ALGORITHMS}
    for panel, name in zip(figure.subplots(1, 2), ALGORITHMS, strict=True):
        frame(panel, env)
        drawn = states(found[name], "queue")[0]
        panel.scatter(*drawn.T, s=3, color="tab:blue", linewidths=0)
        panel.set_title(f"{name}: {shares[name][0]:.1f}% near a hole")
    seeds = len(shares[ALGORITHMS[0]])
    figure.suptitle("F5: the search-control queue at the end, first seed")
    rows = [["share near a hole", "mean over seeds", "least", "greatest"]]
    for name, share in shares.items():
        low, high = interval(lambda v: v.mean(-1), share)
        mean = f"{share.mean():.1f}% [{low:.1f}, {high:.1f}]"
        rows.append([name, mean, f"{share.min():.1f}%", f"{share.max():.1f}%"])
    found_claims = [
        claims.share(f"{name}: queue states within 0.1 of a hole", PAPER[name], shares[name])
        for name in ALGORITHMS
    ]
    first, second = (shares[name] for name in ALGORITHMS)
    found_claims += judge(
        [
            Comparison(
                "share near a hole: Dyna-Frequency − Dyna-Value, points", "above 0", first, second
            )
        ]
    )
    note = f"Each of the {seeds} seeds is one sample: the paper shows one queue of each algorithm."
    return Findings(figure, found_claims, rows, (note, _by_outcome(found, shares)))


def _by_outcome(found: dict[str, Stored], shares: dict[str, np.ndarray]) -> str:
    """The shares of the seeds that learned and of those that did not, apart."""
    parts = []
    for name, share in shares.items():
        lost = unlearned(found[name])
        for of, where in ((~lost, "above"), (lost, "below")):
            if of.any():
                low, high = interval(lambda v: v.mean(-1), share[of])
                parts.append(
                    f"{name}, {of.sum()} seeds that end {where} −1500: {share[of].mean():.1f}% "
                    f"[{low:.1f}, {high:.1f}]"
                )
    return "By outcome: " + "; ".join(parts) + "."
