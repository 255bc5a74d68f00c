"""How the defaults of `er` are chosen: candidates, development domains, and one score.

The rule, written on 2026-11-17 before the first training:

- Development domains: Acrobot, CartPole, MountainCar, GridWorld and PuddleWorld as built in, 20
  seeds from 3000, 20,000 steps, 5 greedy episodes every 500 steps. No setting per domain.
- The score of a domain is the mean of two numbers: the mean return of all evaluations, and that of
  the last 3,000 steps. Each is scaled so that a random policy has 0 and the best known return 1.
- The score of a candidate is that of its worst domain. Among candidates within one standard error
  of the highest score, the highest mean over the domains decides.
- Round 1 changes one thing at a time. Round 2 combines what raised the worst domain or the mean by
  more than one standard error. At most 200 trainings in all.
- A candidate is allowed if 5 seeds x 20,000 steps on CartPole take at most 10 minutes on two cores.
- The winner is confirmed once, on other seeds and on domains that have no say here.

`benchmarks/pool.py` trains what is missing; `python benchmarks/choose_defaults.py collect FOLDER`
adds it to `results/defaults.parquet`, and `table results/defaults.parquet` prints the scores.
The settings `running_scale`, `learner.weight_decay` and `learner.reward_scale` brought nothing and
exist only in the commit that introduces this file.

Chosen on 2026-11-18: squared loss, prioritized replay and 3-step returns. Of the four candidates
within one standard error of the highest score it has the highest mean. Confirmed once, with
`benchmarks/samples.py` and seeds from 0: MazeGridWorld, TubeGridWorld-4, LunarLander, MountainCar
with 200 steps, and the two environments of `plain_environments.py`.

A second rule, written on 2026-11-18 because LunarLander and Docking were not solved, before any
training of it:

- Seven development domains: the five, and Landing and Tanks of `development_domains.py`. Seeds,
  steps, evaluations, score and cost as above; the worst of the seven counts.
- Candidates: those of the first rule that have at least 0.78 in their worst domain, of which only
  the two new domains are trained; and four that change the winner: gradients of at most norm 10,
  priorities for a quarter of a mini-batch, a priority exponent of 0.3, and 5 updates with
  mini-batches of 64. At most 80 trainings.
- Confirmed once, on two environments that are written independently after the choice, with seeds
  from 0: the winner becomes the default unless its mean score over both is lower than that of the
  default before by more than one standard error (this criterion was added after the choice, before
  the confirmation). Their scale is that of a random and of a scripted policy. LunarLander, Docking
  and the others are measured again, but have been seen.

Chosen on 2026-11-18, from 66 trainings: Huber loss, prioritized replay, 3-step returns and
mini-batches of 64. Of the two candidates within one standard error of the highest score it has the
higher mean. Confirmed on the same day in `independent_environments.py`: a mean score of 0.742, the
default before 0.714.

A third rule, written on 2026-11-18 before any training of it. A box may be a thousand times as wide
as what is visited, and have other units in each coordinate: `UnitTanks` is Tanks like that. With 6
seeds x 8,000 steps, `er` had 0.74 there and 1.14 in Tanks; scaled by at most 3 or 10 standard
deviations of the visited states, 1.14 and 1.07, and no less than before in Tanks, Landing,
MountainCar and GridWorld. Ranges took the place of deviations, which a rare flag misleads, and ten
of them (1.01) change least where bounds are good.

- Candidates: no limit, at most 10 and at most 3 ranges, with the winner of the second rule.
- Domains: the seven and UnitTanks. Seeds, steps, evaluations and score as above; the worst of the
  eight counts, and among those within one standard error the highest mean. 24 trainings.
- Confirmed once, on two environments that are written independently after the choice.

Chosen on 2026-11-18, from 24 trainings: at most 10 ranges, with the highest score and mean.

A fourth rule, written on 2026-11-18 before any training of it. What was lost were seeds that did
not find the goal: 1 of 20 on MountainCar, 2 of 20 on GridWorld; and some evaluations fall far below
those around them. A random policy finds the goal of MountainCar within 5,000 steps in 2 of 100
seeds; if its actions last k or more steps with probability 1/k, at most 10, in 92 (GridWorld 51 and
92, Acrobot 10 and 98; at most 3, 30 and 100 steps were tried and find it less often in one of
them: `random_walks.py`). The target network is a running mean of the network over about 20 steps.

- Candidates: the choice of the third rule, with random actions of at most 10 steps, with the target
  network acting, and with both. Domains, seeds, steps, evaluations and score as in the third rule.
  24 trainings.
- Confirmed once, with the choice of the third rule, on PaperWinder and BoreholeDrill of
  `independent_environments.py`: they were written after the choice of the third rule, and no
  training had seen them. The winner becomes the default unless its mean score over both is lower
  than that of the third rule's choice by more than one standard error, and so does the third rule's
  choice against no limit. Random and scripted policies are the scale.

Chosen on 2026-11-18, from 24 trainings: both. Random actions of at most 10 steps and the third
rule's choice have the highest score, 0.457, with standard errors of 0.036 and 0.043; both changes
have 0.427, and the highest mean, 0.837 (0.797 and 0.744). **Confirmed**: a mean score of 0.777, the
third rule's choice 0.727. **The third rule's choice is not confirmed**: no limit has 0.757, more by
two standard errors. It loses on PaperWinder, whose box of ±10,000 newtons hides a reading that does
not matter, and wins nothing on BoreholeDrill.

A fifth rule, written on 2026-11-18 before any training of it. Until it has chosen, the limit stays.

- Candidates: the choice of the fourth rule with no limit, at most 100, and at most 10 ranges.
- Domains: those in which a limit changes anything: CartPole, Tanks, UnitTanks, and the four of the
  confirmations so far, which become development domains. On the others, all three are the same to
  the bit. Seeds, steps, evaluations and score as above, seeds from 0 on the four; the worst of the
  seven counts, and among those within one standard error the highest mean. 16 trainings are new.
- Added before any training was complete: a candidate that is lower in one domain than another in
  its worst by more than a standard error cannot win, and its other domains are not trained. Boxes
  on CartPole, Tanks and BoreholeDrill are less than 100 ranges wide after 500 random steps, before
  the first update and evaluation, so there no limit is the same to the bit as at most 100.
- Confirmed once, on StarPointing and AnaesthesiaPumps of `more_environments.py`, on which nothing
  was trained, with seeds from 0: the winner becomes the default unless its mean score over both is
  lower than that of no limit by more than one standard error; then there is no limit.

Chosen on 2026-11-18, from four new trainings on two cores (the others cannot change it): at most 10
ranges, with 0.686 in its worst domain, BoreholeDrill, and a standard error of 0.017. At most 100
has 0.667 and no limit 0.377 in UnitTanks. On DinghyToBuoy the choice has 0.733, where the second
rule's, which had no limit and other exploration, has 0.856. **Confirmed** on one H200: a mean score
of 0.598 ± 0.013 (StarPointing 0.364, AnaesthesiaPumps 0.833), without a limit 0.594 ± 0.011 (0.390
and 0.799).
"""

import argparse
import json
import math
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import independent_environments  # noqa: F401  (registers them)
import more_environments  # noqa: F401  (registers them)
import numpy as np
from development_domains import Landing, Tanks, UnitTanks
from samples import origin

import freqdyna
from freqdyna.agents.dyna import scale

STORED = Path(__file__).parents[1] / "results" / "defaults.parquet"

RANDOM_AND_BEST = {
    "Acrobot-v1": (-500, -75),
    "CartPole-v1": (22, 500),
    "MountainCar-v0": (-2000, -105),
    "GridWorld": (-1736, -35),
    "PuddleWorld": (-791, -40),
    # The second rule's.
    "Landing": (-136, 180),
    "Tanks": (1.06, 1.95),
    # The third rule's.
    "UnitTanks": (1.06, 1.95),
}
SECOND_RULE = {"Landing": Landing(), "Tanks": Tanks()}
NEW_DOMAINS = SECOND_RULE | {"UnitTanks": UnitTanks()}
CONFIRMATION = {
    **{"IslandGrid": (-10.9, 241.6), "DinghyToBuoy": (-21.5, 20.3)},
    # The third and fourth rule's.
    **{"PaperWinder": (-105.9, 183.5), "BoreholeDrill": (12.9, 46.0)},
    # The fifth rule's.
    **{"StarPointing": (-83, 44), "AnaesthesiaPumps": (-125, 155)},
}
"""The returns of a random and of a scripted policy."""
FACTORIES = {env: partial(gymnasium.make, f"{env}-v0") for env in CONFIRMATION}
SEEDS, STEPS, EVAL_EVERY, LAST = 20, 20_000, 500, 3_000
BASE: dict[str, Any] = {
    **{"learner.hidden": (128, 128), "learner.activation": "silu", "learner.layer_norm": True},
    **{"learner.double": True, "learner.loss": "huber", "learner.learning_rate": 3e-4},
    **{"learner.target_rate": 0.005, "learner.target_period": 1, "learner.ties": "random"},
    **{"learner.n_step": 1, "replay.prioritized_share": 0.0},
    **{"warmup_steps": 1000, "planning_steps": 10, "batch_size": 32, "exploration": 0.1},
    **{"exploration_repeats": 1, "acting_network": "online"},
    **{"eval_episodes": 5, "eval_exploration": 0.0},
}
SQUARED, PRIORITIZED = {"learner.loss": "squared"}, {"replay.prioritized_share": 0.5}
CANDIDATES: dict[str, dict[str, Any]] = {
    "base": {},
    "running scale": {"running_scale": True},
    "3-step returns": {"learner.n_step": 3},
    "5-step returns": {"learner.n_step": 5},
    "batch 128": {"batch_size": 128},
    "4 updates": {"planning_steps": 4},
    "20 updates": {"planning_steps": 20},
    "exploration 1 to 0.05 in 5,000 steps": {
        **{"exploration": 0.05, "exploration_steps": 5_000},
    },
    "exploration 0.05": {"exploration": 0.05},
    "target rate 0.02": {"learner.target_rate": 0.02},
    "learning rate 1e-3": {"learner.learning_rate": 1e-3},
    "prioritized replay": PRIORITIZED,
    "weight decay 0.01": {"learner.weight_decay": 0.01},
    "relu": {"learner.activation": "relu"},
    "rewards times 0.1": {"learner.reward_scale": 0.1},
    "squared loss": {"learner.loss": "squared"},
    # Round 2.
    "batch 128, exploration 0.05": {"batch_size": 128, "exploration": 0.05},
    "batch 128, 3-step": {"batch_size": 128, "learner.n_step": 3},
    "batch 128, prioritized": {"batch_size": 128, **PRIORITIZED},
    "batch 128, 5 updates": {"batch_size": 128, "planning_steps": 5},
    "batch 128, 5 updates, 3-step, exploration 0.05": {
        **{"batch_size": 128, "planning_steps": 5, "learner.n_step": 3, "exploration": 0.05},
    },
    "squared, prioritized": {**SQUARED, **PRIORITIZED},
    "squared, prioritized, batch 64": {**SQUARED, **PRIORITIZED, "batch_size": 64},
    "squared, batch 64": {**SQUARED, "batch_size": 64},
    "squared, target rate 0.002": {**SQUARED, "learner.target_rate": 0.002},
    "squared, prioritized, target rate 0.002": {
        **{**SQUARED, **PRIORITIZED, "learner.target_rate": 0.002},
    },
    "squared, prioritized, 3-step": {**SQUARED, **PRIORITIZED, "learner.n_step": 3},
    "squared, prioritized, batch 64, 2-step": {
        **{**SQUARED, **PRIORITIZED, "batch_size": 64, "learner.n_step": 2},
    },
    "squared, prioritized, batch 64, learning rate 1e-4": {
        **{**SQUARED, **PRIORITIZED, "batch_size": 64, "learner.learning_rate": 1e-4},
    },
    "squared, prioritized, exploration 0.05": {**SQUARED, **PRIORITIZED, "exploration": 0.05},
    # Around the best of these: is each of its three changes needed, and is more of one better?
    "squared, 3-step": {**SQUARED, "learner.n_step": 3},
    "squared, batch 64, 3-step": {**SQUARED, "batch_size": 64, "learner.n_step": 3},
    "squared, batch 128, 3-step": {**SQUARED, "batch_size": 128, "learner.n_step": 3},
    "prioritized, batch 64, 3-step": {**PRIORITIZED, "batch_size": 64, "learner.n_step": 3},
    "squared, prioritized, 2-step": {**SQUARED, **PRIORITIZED, "learner.n_step": 2},
    "squared, prioritized, 5-step": {**SQUARED, **PRIORITIZED, "learner.n_step": 5},
    "squared, prioritized, batch 64, 3-step": {
        **{**SQUARED, **PRIORITIZED, "batch_size": 64, "learner.n_step": 3},
    },
    "squared, prioritized, batch 128, 3-step": {
        **{**SQUARED, **PRIORITIZED, "batch_size": 128, "learner.n_step": 3},
    },
    "squared, prioritized, 3-step, 20 updates": {
        **{**SQUARED, **PRIORITIZED, "planning_steps": 20, "learner.n_step": 3},
    },
    "squared, prioritized, 3-step, target rate 0.01": {
        **{**SQUARED, **PRIORITIZED, "learner.target_rate": 0.01, "learner.n_step": 3},
    },
}
WINNER = {**SQUARED, **PRIORITIZED, "learner.n_step": 3}
NEW_CANDIDATES = {
    "winner, gradient norm 10": {**WINNER, "learner.max_gradient_norm": 10.0},
    "winner, a quarter by priority": {**WINNER, "replay.prioritized_share": 0.25},
    "winner, exponent 0.3": {**WINNER, "replay.exponent": 0.3},
    "winner, 5 updates, batch 64": {**WINNER, "planning_steps": 5, "batch_size": 64},
}
RANGES = {"no limit": math.inf, "at most 10 ranges": 10.0, "at most 3 ranges": 3.0}
"""The candidates of the third rule, by `MOST_RANGES` of the scale."""
REPEATED, TARGET = {"exploration_repeats": 10}, {"acting_network": "target"}
FOURTH_RULE: dict[str, dict[str, Any]] = {
    "random actions of up to 10 steps": REPEATED,
    "target network acts": TARGET,
    "both": {**REPEATED, **TARGET},
}
"""The candidates of the fourth rule, as changes of "at most 10 ranges"."""
FIFTH_RULE = {"both, no limit": math.inf, "both, at most 100 ranges": 100.0, "both": 10.0}
"""The candidates of the fifth rule, as changes of the limit of "both"."""
FIFTH_DOMAINS = (
    *("CartPole-v1", "Tanks", "UnitTanks", "IslandGrid", "DinghyToBuoy"),
    *("PaperWinder", "BoreholeDrill"),
)
FIRST_RULE_BELOW = (
    *("base", "running scale", "3-step returns", "5-step returns", "batch 128", "4 updates"),
    *("20 updates", "exploration 1 to 0.05 in 5,000 steps", "exploration 0.05"),
    *("target rate 0.02", "learning rate 1e-3", "weight decay 0.01", "relu", "rewards times 0.1"),
    *("batch 128, exploration 0.05", "batch 128, 5 updates"),
    *("batch 128, 5 updates, 3-step, exploration 0.05", "squared, target rate 0.002"),
    *("squared, prioritized, target rate 0.002", "squared, prioritized, 2-step"),
    "squared, prioritized",
)
"""Candidates with less than 0.78 in the worst domain of the first rule."""


def units() -> list[tuple[str, str]]:
    """Every training of the second and later rules: candidate and domain."""
    good = [name for name in CANDIDATES if name not in FIRST_RULE_BELOW]
    old = [(name, env) for env in SECOND_RULE for name in good]
    both = "squared, prioritized, 3-step", "prioritized, batch 64, 3-step"
    confirmation = [(name, env) for env in ("IslandGrid", "DinghyToBuoy") for name in both]
    seven = [env for env in RANDOM_AND_BEST if env != "UnitTanks"]
    new = [(name, env) for name in NEW_CANDIDATES for env in seven]
    third = [(name, env) for name in RANGES for env in RANDOM_AND_BEST]
    fourth = [(name, env) for name in FOURTH_RULE for env in RANDOM_AND_BEST]
    last = "no limit", "at most 10 ranges", "both"
    fourth += [(name, env) for env in ("PaperWinder", "BoreholeDrill") for name in last]
    fifth = [("both", env) for env in FIFTH_DOMAINS]
    fifth += [(name, "UnitTanks") for name in FIFTH_RULE]
    last_two = "StarPointing", "AnaesthesiaPumps"
    fifth += [(name, env) for env in last_two for name in ("both", "both, no limit")]
    return list(dict.fromkeys(new + old + confirmation + third + fourth + fifth))


def place(folder: Path, name: str, env: str) -> Path:
    """The file of one training."""
    return folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.{env}.npz"


def file_of(folder: Path, unit: tuple[str, str]) -> Path:
    """Where a training is stored before it is collected."""
    return place(folder, *unit)


def train(folder: Path, unit: tuple[str, str]) -> None:
    """Train one candidate on one domain, and store its returns of shape (seeds, evaluations)."""
    began, (name, env) = time.monotonic(), unit
    second = CANDIDATES["prioritized, batch 64, 3-step"]
    fourth = FOURTH_RULE | dict.fromkeys(FIFTH_RULE, FOURTH_RULE["both"])
    changes = (CANDIDATES | NEW_CANDIDATES).get(name, {**second, **fourth.get(name, {})})
    settings = {"algorithm": "er", **BASE, **changes}
    scale.MOST_RANGES = limit_of(name)
    result = freqdyna.train(
        (NEW_DOMAINS | FACTORIES).get(env, env),
        seeds=SEEDS,
        first_seed=0 if env in CONFIRMATION else 3000,
        steps=STEPS,
        eval_every=EVAL_EVERY,
        **settings,
    )
    seconds = time.monotonic() - began
    np.savez(
        place(folder, name, env),
        name=name,
        returns=result.returns,
        seconds=seconds,
        settings=json.dumps(settings | {"ranges": str(limit_of(name))}),
        origin=origin(),
    )


def limit_of(name: str) -> float:
    """How many ranges of the visited states a box counts as, at most."""
    ranges = RANGES | dict.fromkeys(FOURTH_RULE, 10.0) | FIFTH_RULE
    return ranges.get(name, math.inf)  # the first two rules had no limit


def score(env: str, returns: np.ndarray) -> np.ndarray:
    """The score of each seed on a domain."""
    worst, best = (RANDOM_AND_BEST | CONFIRMATION)[env]
    both = returns.mean(1), returns[:, -LAST // EVAL_EVERY :].mean(1)
    return (np.mean(both, axis=0) - worst) / (best - worst)


def stored_names() -> set[str]:
    """The files of the trainings that were collected."""
    import pyarrow.parquet as pq

    rows = pq.read_table(STORED, columns=["candidate", "env"]).to_pylist()
    return {place(Path(), row["candidate"], row["env"]).name for row in rows}


def collect(folder: Path, file: Path) -> None:
    """Add all trainings of a folder to a Parquet file."""
    # Imported where it is used: a machine that only trains need not have it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {(row["candidate"], row["env"]): row for row in pq.read_table(file).to_pylist()}
    for name, env in units():
        if (path := place(folder, name, env)).exists():
            with np.load(path) as stored:
                rows[name, env] = {
                    **{"candidate": name, "env": env, "settings": str(stored["settings"])},
                    **{"returns": stored["returns"].tolist(), "origin": str(stored["origin"])},
                }
    columns = {n: [row[n] for row in rows.values()] for n in next(iter(rows.values()))}
    kind = pa.list_(pa.list_(pa.float32()))
    arrays = {n: pa.array(v, kind if n == "returns" else pa.string()) for n, v in columns.items()}
    pq.write_table(pa.table(arrays), file, compression="zstd")


def table(file: Path) -> None:
    """Print the scores with standard errors, and in brackets the means of the returns."""
    import pyarrow.parquet as pq

    by_candidate: dict[str, dict[str, np.ndarray]] = {}
    for row in pq.read_table(file).to_pylist():
        by_candidate.setdefault(row["candidate"], {})[row["env"]] = np.array(row["returns"])
    lines = []
    for name, by_env in by_candidate.items():
        cells = {env: score(env, returns) for env, returns in by_env.items()}
        means = [scores.mean() for env, scores in cells.items() if env in RANDOM_AND_BEST]
        worst = min(means)
        texts = [f"{worst:.3f}", f"{np.mean(means):.3f}"]
        for env in RANDOM_AND_BEST | CONFIRMATION:
            if env not in cells:
                texts.append("")
                continue
            scores, returns = cells[env], by_env[env]
            error = scores.std(ddof=1) / len(scores) ** 0.5
            last = returns[:, -LAST // EVAL_EVERY :].mean()
            digits = 0 if abs(last) > 10 else 2
            both = f"({returns.mean():.{digits}f}, {last:.{digits}f})"
            texts.append(f"{scores.mean():.3f} ± {error:.3f} {both}")
        lines.append((len(means), worst, f"| {name} | " + " | ".join(texts) + " |"))
    print("| candidate | worst | mean | " + " | ".join(RANDOM_AND_BEST | CONFIRMATION) + " |")
    # Those of the second rule come first: they have more domains.
    for *_, line in sorted(lines, reverse=True):
        print(line)


def main() -> None:
    """Collect, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("collect", "table"))
    parser.add_argument("path", type=Path, help="a folder of trainings, or for table a file")
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args()
    if options.action == "table":
        table(options.path)
    else:
        collect(options.path, options.out)


if __name__ == "__main__":
    main()
