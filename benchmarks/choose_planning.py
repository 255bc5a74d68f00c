"""How the default of `dyna` with a learned model is chosen, so that planning does not hurt.

The rule, written on 2026-11-18 before the first training of it. Before, `td-error` with 50
candidates had been tried on GridWorld, CartPole and MountainCar (8 seeds from 3000, 8,000 steps).

- Development domains: Acrobot, CartPole, MountainCar, GridWorld and PuddleWorld as built in, 20
  seeds from 4000, 20,000 steps, 5 greedy episodes every 500 steps. Nothing is known beforehand:
  the model learns termination, and searches stay in the range of the visited states.
- The learner is that of the second rule of `choose_defaults.py`, for all candidates.
- The score of a domain is that of `choose_defaults.py`, less that of the better of `er` and `er`
  with twice the updates. The score of a candidate is that of its worst domain. Among candidates
  within one standard error of the highest score, the highest mean over the domains decides.
- A candidate is allowed if its step takes at most 2.5 times that of `er` on two cores.
- At most 60 trainings. If no candidate has a score above -0.03, none becomes the default.
- Changed before the first training: `frequency`, a quarter simulated and 50 telling events made
  room for candidates near the visited states, as a box with many coordinates is mostly empty.
- The winner is confirmed once, with seeds from 0: MazeGridWorld, TubeGridWorld-4, LunarLander,
  Docking, and an environment that is written independently after the choice.

21 trainings were made on 2026-11-18, on one H200; the others are missing.

`python benchmarks/choose_planning.py train FOLDER --part 0/16` trains what FOLDER lacks,
`collect FOLDER` adds it to `results/planning.parquet`, and `table` prints the scores.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from choose_defaults import BASE, EVAL_EVERY, SEEDS, STEPS, place, score
from jaxtyping import PRNGKeyArray

import freqdyna
from freqdyna.agents.dyna import scale
from freqdyna.config import Count, NotNegative
from freqdyna.search_control.base import Proposal, Search, SearchControl
from freqdyna.search_control.sampling import sample_in_proportion

STORED = Path(__file__).parents[1] / "results" / "planning.parquet"
DOMAINS = ("Acrobot-v1", "CartPole-v1", "MountainCar-v0", "GridWorld", "PuddleWorld")
LEARNER: dict[str, Any] = {
    **{**BASE, "learner.loss": "huber", "learner.n_step": 3},
    **{"replay.prioritized_share": 0.5, "batch_size": 64},
}
TWICE = "er, 20 updates"


class NearbyTDError(SearchControl):
    """Like `td-error`, of candidates near the visited states."""

    states: Count = eqx.field(static=True, default=20)
    candidates: Count = eqx.field(static=True, default=50)
    reach: NotNegative = eqx.field(static=True, default=0.0)
    """How far a candidate is from a visited state: in steps, each that of another transition."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Score the candidates with the model and sample some; see `SearchControl.propose`."""
        candidate_key, error_key, choice_key = jax.random.split(key, 3)
        drawn = search.transitions(candidate_key, 2 * self.candidates)
        steps = (drawn.next_state - drawn.state)[self.candidates :]
        states = jnp.clip(
            drawn.state[: self.candidates] + self.reach * steps, search.low, search.high
        )
        errors = jax.vmap(search.td_error)(states, jax.random.split(error_key, self.candidates))
        chosen, any_error = sample_in_proportion(jnp.abs(errors), choice_key, self.states)
        return Proposal.of(states[chosen], jnp.where(any_error, self.states, 0))


DYNA: dict[str, Any] = {"algorithm": "dyna", "model": "ensemble"}
TD_ERROR = {**DYNA, "search_control": "td-error", "search_control.candidates": 50}
CANDIDATES: dict[str, dict[str, Any]] = {
    "er": {"algorithm": "er"},
    TWICE: {"algorithm": "er", "planning_steps": 20},
    "td-error": TD_ERROR,
    "td-error, no optimism": {**TD_ERROR, "trust.optimism": 0.0},
    "td-error, as many simulated as stored": {**TD_ERROR, "planning.simulated_share": 1.0},
    "td-error, two model updates": {**TD_ERROR, "planning.model_updates": 2},
    "td-error, trust always": {**TD_ERROR, "trust": "always", "model.outcome": "member"},
    "replay": {**DYNA, "search_control": "replay"},
    "uniform": {**DYNA, "search_control": "uniform"},
    "td-error, visited states": {**DYNA, "search_control": NearbyTDError()},
    "td-error, a step away": {**DYNA, "search_control": NearbyTDError(reach=1.0)},
    "td-error, five steps away": {**DYNA, "search_control": NearbyTDError(reach=5.0)},
}


def train(folder: Path, name: str, env: str) -> None:
    """Train one candidate on one domain, and store its returns of shape (seeds, evaluations)."""
    began, settings = time.monotonic(), {**LEARNER, **CANDIDATES[name]}
    scale.MOST_RANGES = math.inf  # as in the second rule
    result = freqdyna.train(
        env, seeds=SEEDS, first_seed=4000, steps=STEPS, eval_every=EVAL_EVERY, **settings
    )
    np.savez(
        place(folder, name, env),
        returns=result.returns,
        trust=result.metrics.get("trust", np.nan),
        target_error=result.metrics.get("target_error", np.nan),
        seconds=time.monotonic() - began,
        settings=json.dumps(settings, default=str),
    )


def stored_rows() -> dict[tuple[str, str], dict[str, Any]]:
    """What the file has, by candidate and domain."""
    import pyarrow.parquet as pq

    rows = pq.read_table(STORED).to_pylist() if STORED.exists() else []
    return {(row["candidate"], row["env"]): row for row in rows}


def collect(folder: Path) -> None:
    """Add all trainings of a folder to the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = stored_rows()
    for name, env in [(name, env) for name in CANDIDATES for env in DOMAINS]:
        if (path := place(folder, name, env)).exists():
            with np.load(path) as stored:
                weights = stored["trust"][np.isfinite(stored["trust"])]
                rows[name, env] = {
                    **{"candidate": name, "env": env, "settings": str(stored["settings"])},
                    "returns": stored["returns"].tolist(),
                    "trust": float(weights.mean()) if weights.size else None,
                }
    pq.write_table(pa.Table.from_pylist(list(rows.values())), STORED, compression="zstd")


def table() -> None:
    """Print the differences of the scores with standard errors, and the mean weight."""
    print("| candidate | worst | mean | " + " | ".join(DOMAINS) + " |")
    rows = stored_rows()
    scores: dict[str, dict[str, np.ndarray]] = {}
    for (name, env), row in rows.items():
        scores.setdefault(name, {})[env] = score(env, np.array(row["returns"]))
    for name, by_env in scores.items():
        texts, differences = dict.fromkeys(DOMAINS, ""), []
        for env in by_env.keys() & scores["er"].keys() & scores.get(TWICE, {}).keys():
            best = max((scores["er"][env], scores[TWICE][env]), key=np.mean)
            differences.append(by_env[env].mean() - best.mean())
            error = np.hypot(*(one.std(ddof=1) / len(one) ** 0.5 for one in (by_env[env], best)))
            texts[env] = f"{differences[-1]:+.3f} ± {error:.3f}"
            if (weight := rows[name, env]["trust"]) is not None:
                texts[env] += f" ({weight:.2f})"
        worst, mean = (f"{f(differences):+.3f}" if differences else "" for f in (min, np.mean))
        print("| " + " | ".join([name, worst, mean, *texts.values()]) + " |")


def main() -> None:
    """Train, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "collect", "table"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/planning"))
    parser.add_argument("--part", default="0/1", help="which of how many processes this is")
    options = parser.parse_args()
    if options.action == "table":
        return table()
    if options.action == "collect":
        return collect(options.folder)
    options.folder.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, options.part.split("/"))
    units = [(name, env) for name in CANDIDATES for env in DOMAINS]
    for name, env in [u for u in units if not place(options.folder, *u).exists()][part::parts]:
        train(options.folder, name, env)
    return None


if __name__ == "__main__":
    main()
