"""What the paper claims, in one sentence for each group of claims that an experiment tests."""

STATEMENTS: dict[str, dict[str, str]] = {
    "E1": {
        r"": "the squared derivative of f_sin is 64 times as large on its left half",
    },
    "E2": {
        r"": "squared derivatives of a Fourier series are sums over its coefficients",
    },
    "T1": {
        r"vanish on the boundary|first order.*f vanishes": "theorem 1: gradient and Hessian give "
        "the local frequency, if f (second order: and ∇f) vanishes on the boundary",
        r"": "theorem 1 for every other f; the paper states it for any f",
    },
    "U": {
        r"^minimum of": "the uncertainty principle, if f vanishes on the boundary",
        r"^the same for": "Gaussians that vanish on the boundary attain the bound of the "
        "uncertainty principle",
        r"if f does not vanish": "the uncertainty principle for every other f; the paper states it "
        "for any f",
    },
    "F1": {
        r"^Biased-high .* Unbiased, test error": "regression has a lower error with data biased to "
        "the high frequency than with unbiased data",
        r"^Biased-high .* Unbiased, updates": "regression needs fewer updates with data biased to "
        "the high frequency than with unbiased data",
        r"− Biased-low": "data biased to the high frequency are better than data biased to the low "
        "frequency",
        r"^Biased-low": "data biased to the low frequency are worse than unbiased data",
    },
    "F2": {
        r": points in": "the paper's percentages of points where gradient or Hessian are large",
        r"test error (over|in)": "regression has a lower error with data biased by the gradient "
        "norm, and the lowest with the Hessian norm",
        r"updates until": "regression needs fewer updates with data biased by the gradient norm, "
        "and the fewest with the Hessian norm",
    },
    "F3": {
        r"^Dyna-Frequency − \S+, area, d = ": "MountainCar: Dyna-Frequency is ahead of ER, "
        "PrioritizedER and Dyna-Value",
        r"^Dyna-Value − PrioritizedER": "MountainCar: Dyna-Value is ahead of PrioritizedER",
        r"^not every": "MountainCar: not every algorithm gains from 30 updates instead of 10",
        r"difference between d = ": "MountainCar: the lead over Dyna-Value is clearer with 30 "
        "updates than with 10",
        r"^loss of area due to noise": "MountainCar: noise costs Dyna-Value more than "
        "Dyna-Frequency",
        r"learned model − ER": "MountainCar: Dyna-Frequency with a learned model is ahead of ER",
    },
    "F4": {
        r"^standard deviation": "maze: returns vary less over seeds with Dyna-Frequency than with "
        "Dyna-Value",
        r"^Dyna-Frequency − Dyna-Value": "maze: Dyna-Frequency is ahead of Dyna-Value",
        r"^100,000 steps": "maze: Dyna-Frequency is ahead of Dyna-Value in trainings of 100,000 "
        "steps",
        r"learned model − Dyna-Frequency": "maze: the learned model is better than the true one",
        r"learned model − Dyna-Value": "maze: Dyna-Frequency with a learned model is ahead of "
        "Dyna-Value with the true one",
    },
    "F5": {
        r"queue states within": "maze: the paper's percentages of queue states near a hole",
        r"^share near": "maze: more of Dyna-Frequency's queue states than of Dyna-Value's are near "
        "a hole",
    },
    "F6": {
        r"performs poorly on GridWorld": "GridWorld: climbing the Hessian norm performs poorly",
        r"on GridWorld, seeds that learned$": "GridWorld: climbs of the Hessian norm frequently "
        "have no direction",
        r"GridWorld − MountainCar": "climbs of the Hessian norm have no direction more often on "
        "GridWorld than on MountainCar",
        r"Dyna-HessNorm − Dyna-GradNorm, percentage": "GridWorld: climbs have no direction more "
        "often with the Hessian norm than with the gradient norm",
        r"on MountainCar, area": "MountainCar: climbing one of the norms is better than climbing g",
    },
    "F7": {
        r"− NAF": "Hopper, Walker2d: DynaNAF-Frequency is ahead of NAF",
        r"− DynaNAF-Value": "Hopper, Walker2d: DynaNAF-Frequency is ahead of DynaNAF-Value",
    },
    "F8": {
        r"near the goal": "maze: more of Dyna-Value's queue states than of Dyna-Frequency's are "
        "near the goal",
        r"distributions of queue": "maze: the distributions of queue and replay buffer differ",
        r"higher value": "maze: states in the queue have a higher value than those in the replay "
        "buffer",
    },
    "A1": {
        r"": "Sutton and Barto's maze: episodes are shorter with more planning updates",
    },
    "D": {
        r": points with": "learned values: a low gradient occurs with a high Hessian, and the "
        "reverse",
        r"median of ‖H_V‖": "second derivatives of V are smaller on GridWorld than on MountainCar",
        r": g, rank": "MountainCar: reward noise leaves the regions of high g in place",
        r": V, rank": "MountainCar: reward noise changes V",
    },
    "X1": {
        r"does not work well": "MountainCar: climbing V + g or V·g is worse than climbing g",
        r"visited states": "MountainCar: planning from visited states does not outperform ER",
    },
    "S": {
        r"^(?P<reading>.*), MountainCar-v0: ": "MountainCar: Dyna-Frequency is ahead of "
        "Dyna-Value, with one choice changed, or all as in the published code",
        r"^(?P<reading>.*), MazeGridWorld: .* area$": "maze: Dyna-Frequency is ahead of "
        "Dyna-Value, with one choice changed",
        r"^(?P<reading>.*), MazeGridWorld: standard deviation": "maze: returns vary less over "
        "seeds with Dyna-Frequency, with one choice changed",
        r"^(?P<reading>.*): share near a hole": "maze: more of Dyna-Frequency's queue states are "
        "near a hole, with one choice changed",
        r"^some interpretation": "maze: some interpretation gives both percentages of F5",
        r"^Dyna-Frequency \(tanh\)": "MountainCar: Dyna-Frequency with tanh is ahead of the other "
        "three with ReLU, as in the published configuration",
        r"^ER, seeds that are not stuck": "MountainCar: fewer seeds of ER get stuck with ReLU or "
        "with scaled observations",
    },
    "R": {
        r"best setting of each": "MountainCar: Dyna-Frequency is ahead of the other three, each "
        "with its best setting within a grid",
        r"− ER, .* equal compute": "MountainCar: Dyna-Frequency is ahead of ER with equal compute",
        r"PrioritizedER, .* equal compute": "MountainCar: Dyna-Frequency is ahead of PrioritizedER "
        "with equal compute",
        r"Dyna-Value, .* equal compute": "MountainCar: Dyna-Frequency is ahead of Dyna-Value with "
        "equal compute",
    },
    "B": {
        r"local bandwidth": "g ranks states by the local bandwidth of V",
        r"energy": "g ranks states by the local energy of V, alone or times the second moment",
    },
    "C": {
        r"^uniform − frequency, .*Tube": "TubeGridWorld-n: planning from uniform states is ahead "
        "of climbing g, by n",
        r"^uniform − frequency": "planning from uniform states is ahead of climbing g, by domain",
        r"^td-error − frequency": "planning by |TD error| is ahead of climbing g over equal time, "
        "by domain",
    },
}
"""By part: regular expressions that find the claims of a statement, and the statement.

A claim belongs to the first expression that fits. A group called `reading` is the interpretation
of the paper that the claim is about.
"""

MAIN = (
    STATEMENTS["T1"][next(iter(STATEMENTS["T1"]))],
    STATEMENTS["F2"][r"test error (over|in)"],
    STATEMENTS["F3"][r"^Dyna-Frequency − \S+, area, d = "],
    STATEMENTS["S"][r"^(?P<reading>.*), MountainCar-v0: "],
    STATEMENTS["F3"][r"^loss of area due to noise"],
    STATEMENTS["R"][r"PrioritizedER, .* equal compute"],
    STATEMENTS["F4"][r"^standard deviation"],
    STATEMENTS["F4"][r"^Dyna-Frequency − Dyna-Value"],
    STATEMENTS["F5"][r"^share near"],
    STATEMENTS["F6"][r"performs poorly on GridWorld"],
    STATEMENTS["F7"][r"− NAF"],
    STATEMENTS["C"][r"^uniform − frequency"],
)
"""What a reader with one minute should know, in the order of the paper."""
