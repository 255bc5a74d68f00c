"""S, one of our own checks: which open choice of the paper affects which of its claims.

Both Dyna algorithms under each interpretation, and the activations of the published configuration:
ReLU for DQN and Dyna-Value, and tanh for Dyna-Frequency alone. The paper says tanh for all.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from freqdyna.results.chart import Axis, Chart, Line, LineStyle, Panel
from freqdyna.results.statistics import stratified_interval
from reproduction import comparisons, study
from reproduction.claims import Claim, Statement, Verdict
from reproduction.comparisons import WALLS, WHEN_UPDATES_BEGIN, Comparison, mean_with_interval
from reproduction.maze import PAPER, near_holes_if_learned
from reproduction.study import Findings, Part, Stored, Unit, area, grouped, training

CAR, MAZE = "MountainCar-v0", "MazeGridWorld"
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    CAR: {"planning_steps": 10, "env.reward_noise": 0.0},  # a cell of F3
    MAZE: {},  # F4
}
ALGORITHMS = {"Dyna-Frequency": "dyna-frequency", "Dyna-Value": "dyna-value"}
RELU_FOR_VALUE = "ReLU for Dyna-Value alone"
_ANYWHERE: dict[str, dict[str, Any]] = {
    "none changed": {},
    "η scales the deviation": {"search_control.noise_scales": "deviation"},
    "identity instead of Σ": {"search_control.preconditioner": "identity"},
    "projection at the edge": {"search_control.boundary": "project"},
    "g of the target network": {"search_control.network": "target"},
    "queue of 10⁶": {"planning.queue_size": 1_000_000},
    "terminal states kept": {"search_control.keep_terminal": True},
}
CHOICES: dict[str, dict[str, dict[str, Any]]] = {
    # For each interpretation, the settings that it changes on MountainCar and in the maze, where
    # updates begin with the first step and after the warm-up.
    **{choice: dict.fromkeys(ENVIRONMENTS, changed) for choice, changed in _ANYWHERE.items()},
    "other goal reward": {CAR: {"env.goal_reward": 1.0}, MAZE: {"env.goal_reward": -1.0}},
    "updates after the warm-up": {CAR: {"learn_in_warmup": False}},
    "walls in the state space": {MAZE: WALLS["walls inside"]},
    # Those of Dyna-Value in the published code.
    "climbing steps of 0.1": {CAR: {"search_control.step_size": 0.1}},
    "ReLU for both": {CAR: {"learner.activation": "relu"}},
    RELU_FOR_VALUE: {CAR: {"learner.activation": "relu"}},
    "observations scaled to [−1, 1]": {CAR: {"scale_observations": True}},
    "all as in the published code": {env: {"preset": "published"} for env in ENVIRONMENTS},
}
NETWORKS: dict[str, dict[str, Any]] = {
    "tanh": {},
    "ReLU": {"learner.activation": "relu"},
    "tanh, scaled observations": {"scale_observations": True},
}
RIVALS = {"Dyna-Value": "dyna-value", "PrioritizedER": "prioritized-er", "ER": "er"}
NOISES = (0.0, 0.1)
STUCK = -1000.0
"""A seed is stuck if its evaluation return never rises above this."""
AHEAD = {
    CAR: Statement(
        "MountainCar: Dyna-Frequency is ahead of Dyna-Value, with one choice changed, or all as in "
        "the published code",
        main=True,
    ),
    MAZE: Statement("maze: Dyna-Frequency is ahead of Dyna-Value, with one choice changed"),
}
PAPERS = {CAR: "above 0", MAZE: "-"}  # about the maze, the text compares only the variance
STEADIER = Statement(
    "maze: returns vary less over seeds with Dyna-Frequency, with one choice changed"
)
NEAR_HOLES = Statement(
    "maze: more of Dyna-Frequency's queue states are near a hole, with one choice changed"
)
BOTH_PERCENTAGES = Statement("maze: some interpretation gives both percentages of F5")
AHEAD_OF_RELU = Statement(
    "MountainCar: Dyna-Frequency with tanh is ahead of the other three with ReLU, as in the "
    "published configuration"
)
LESS_STUCK = Statement(
    "MountainCar: fewer seeds of ER get stuck with ReLU or with scaled observations"
)
NOTES = (
    "On MountainCar, updates begin with the first step, except for 'updates after the warm-up'; in "
    "the maze they begin after the warm-up.",
    "With ReLU units the Hessian of V is zero almost everywhere, so that climbs of g have no "
    "direction; 'ReLU for both' is listed for completeness. A seed is stuck if no evaluation is "
    "above −1000.",
)
Pair = tuple[Stored, ...]
"""The trainings of `ALGORITHMS`."""
Trainings = dict[str, dict[str, Pair]]
"""By environment and interpretation."""
Case = tuple[str, str, float]
"""Algorithm, network and noise."""


def settings(env: str, choice: str, name: str) -> dict[str, Any]:
    """One training; some interpretations change only one of the algorithms."""
    changed = dict(CHOICES[choice][env])
    if name == "Dyna-Value":
        changed.pop("search_control.network", None)
    elif choice == RELU_FOR_VALUE:
        changed.pop("learner.activation")
    return {"env": env, "algorithm": ALGORITHMS[name]} | ENVIRONMENTS[env] | changed


def network_settings(begin: str, case: Case) -> dict[str, Any]:
    """One training on MountainCar with 10 updates, a cell of F3 with another network."""
    algorithm, network, noise = case
    cell = {"env": CAR, "planning_steps": 10, "env.reward_noise": noise}
    return cell | {"algorithm": algorithm} | NETWORKS[network] | WHEN_UPDATES_BEGIN[begin]


def units(quick: bool) -> list[Unit]:
    """All distinct trainings, the longest first; a quick run has two interpretations."""
    choices = list(CHOICES)[:2] if quick else list(CHOICES)
    stated = [
        settings(env, choice, name)
        for env in ([CAR] if quick else [MAZE, CAR])
        for choice in choices
        if env in CHOICES[choice]
        for name in ALGORITHMS
    ]
    if not quick:
        cases = [
            *((rival, "ReLU", noise) for rival in RIVALS.values() for noise in NOISES),
            *(("er", network, 0.0) for network in NETWORKS),
            *(("dyna-frequency", "tanh", noise) for noise in NOISES),
        ]
        stated += [network_settings(begin, case) for begin in WHEN_UPDATES_BEGIN for case in cases]
    trainings = [training(quick, **of) for of in stated]
    return list({unit.name: unit for unit in trainings}.values())


def analyse(units: dict[str, Stored]) -> Findings:
    """For each interpretation: the difference in area on both environments, shares in the maze."""
    runs: Trainings = {}
    for env in ENVIRONMENTS:
        choices = [choice for choice in CHOICES if env in CHOICES[choice]]
        named = grouped(units, choices, ALGORITHMS, partial(settings, env))
        runs[env] = {c: tuple(of.values()) for c, of in named.items() if len(of) == len(ALGORITHMS)}
    maze = runs[MAZE]
    drawn = {c: pair for c, pair in maze.items() if all("queue" in one.columns for one in pair)}
    cases = list(product(("dyna-frequency", *RIVALS.values()), NETWORKS, NOISES))
    networks = grouped(units, WHEN_UPDATES_BEGIN, cases, network_settings)
    networks = {begin: of for begin, of in networks.items() if ("er", "ReLU", 0.0) in of}
    both = "Dyna-Frequency − Dyna-Value"
    of_share = f"share near a hole, seeds that learned, {both}, percentage points"
    ratio = f"{MAZE}: standard deviation of the area, Dyna-Frequency / Dyna-Value"
    areas, spreads, shares = [], [], []
    for env, of in runs.items():
        for c, pair in of.items():
            ahead, what = AHEAD[env], f"{c}, {env}: {both}, area"
            areas.append(Comparison.of(ahead, what, PAPERS[env], area, *pair, under=c))
    for c, pair in maze.items():
        what = f"{c}, {ratio}"
        spreads.append(Comparison.of(STEADIER, what, "below 1", area, *pair, under=c))
    for c, pair in drawn.items():
        frequency, value = map(near_holes_if_learned, pair)
        shares.append(Comparison(NEAR_HOLES, f"{c}: {of_share}", "above 0", frequency, value, c))
    groups = {"areas": areas, "shares": shares}
    groups |= {begin: _of_networks(of) for begin, of in networks.items()}
    judged = comparisons.judge_each(groups, comparisons.judge)
    claims = [
        *judged.pop("areas"),
        *comparisons.judge_spread(spreads),
        *judged.pop("shares"),
        *([_some_choice_gives_f5(drawn)] if drawn else []),
        *comparisons.under_all(judged),
    ]
    further = [_stuck(networks)] if networks else []
    return Findings(_chart(runs), claims, _table(runs, drawn), NOTES, further)


def _of_networks(runs: dict[Case, Stored]) -> list[Comparison]:
    """F3 with the published activations, and whether another network keeps ER from being stuck."""
    compared = []
    for (name, rival), noise in product(RIVALS.items(), NOISES):
        what = f"Dyna-Frequency (tanh) − {name} (ReLU), MountainCar, area, d = 10, σ = {noise:g}"
        pair = runs["dyna-frequency", "tanh", noise], runs[rival, "ReLU", noise]
        compared.append(Comparison.of(AHEAD_OF_RELU, what, "-", area, *pair))
    for network in list(NETWORKS)[1:]:
        what = f"ER, seeds that are not stuck: {network} − tanh, percentage points"
        pair = runs["er", network, 0.0], runs["er", "tanh", 0.0]
        compared.append(Comparison.of(LESS_STUCK, what, "-", _not_stuck, *pair))
    return compared


def _not_stuck(stored: Stored) -> np.ndarray:
    return 100.0 * np.isfinite(study.steps_to(stored, STUCK))


def _some_choice_gives_f5(drawn: dict[str, Pair]) -> Claim:
    """Whether some interpretation explains both of the paper's shares by seeds that learned."""
    fits = []
    for choice, pair in drawn.items():
        ranges = [np.quantile(near_holes_if_learned(one), [0.025, 0.975]) for one in pair]
        papers = (PAPER[name] for name in ALGORITHMS)
        if all(low <= paper <= high for (low, high), paper in zip(ranges, papers, strict=True)):
            fits.append(choice)
    verdict: Verdict = "holds" if fits else "does not hold"
    what = "some interpretation gives both percentages of F5, seeds that learned"
    ours = ", ".join(fits) or "none"
    return Claim(BOTH_PERCENTAGES, what, "25.3% and 11.7%", ours, "", verdict, "sampling")


def _table(runs: Trainings, drawn: dict[str, Pair]) -> list[list[str]]:
    """Areas of both algorithms, and their shares near a hole if states were stored."""
    header = (f"{what}, {name}" for what in ("area", "near a hole") for name in ALGORITHMS)
    rows = [["interpretation", "environment", "seeds", *header]]
    for env, pairs in runs.items():
        for choice, pair in pairs.items():
            shares = ["", ""]
            if env == MAZE and choice in drawn:
                near = [study.measured(one, "queue_near_hole") for one in pair]
                shares = [mean_with_interval(one, 1, "%") for one in near]
            areas = [mean_with_interval(area(one)) for one in pair]
            seeds = " and ".join(str(len(study.seeds_of(one))) for one in pair)
            rows.append([choice, env, seeds, *areas, *shares])
    return rows


def _stuck(networks: dict[str, dict[Case, Stored]]) -> list[list[str]]:
    """How many seeds of ER are stuck with which network."""
    rows = [["ER on MountainCar, d = 10, σ = 0", "updates", "area", "stuck seeds"]]
    for network in NETWORKS:
        for begin, runs in networks.items():
            stored = runs["er", network, 0.0]
            stuck = int(np.isinf(study.steps_to(stored, STUCK)).sum())
            of_all = f"{stuck} of {len(study.seeds_of(stored))}"
            rows.append([network, begin, mean_with_interval(area(stored)), of_all])
    return rows


def _chart(runs: Trainings) -> Chart:
    """Differences in area on both environments, a row for each interpretation."""
    choices = [choice for choice in CHOICES if any(choice in pairs for pairs in runs.values())]
    bottom, top = len(choices) - 0.5, -0.5
    by_row = Axis(ticks=list(enumerate(choices)), low=bottom, high=top)
    difference = Axis("Dyna-Frequency − Dyna-Value, mean return")
    zero = Line(np.zeros(2), np.array([bottom, top]), LineStyle("gray"), width=0.8)
    panels = []
    for env, pairs in runs.items():
        marks = []
        for choice, pair in pairs.items():
            first, second = map(area, pair)
            ends = stratified_interval(lambda a, b: a.mean(-1) - b.mean(-1), first, second)
            place, middle = choices.index(choice), first.mean() - second.mean()
            marks.append(Line(np.array(ends), np.full(2, place), LineStyle("black")))
            dot = np.array([middle]), np.array([place]), LineStyle("black", "none")
            marks.append(Line(*dot, marker="circle", marker_size=4))
        panels += [Panel(env, difference, by_row, [zero, *marks])] if marks else []
    title = "S: one choice changed at a time, 95% intervals over seeds"
    return Chart(panels, title, panel_size=(4.6, 5.0), share_y=True)


PART = Part("S", "own check: which open choice affects which claim", "a day", units, analyse)
