"""Does planning hurt, and where does it help? `dyna` with its defaults beside `er`, cell by cell.

Written on 2026-11-18, before any training of it and before the default of `dyna` was chosen.
YeastFeed was written independently, and added after the choice.

- A cell is an environment with 20,000 steps and 5 greedy episodes every 500 steps; seeds from 0,
  100 on built-in environments, 30 on those that are stepped in Python. The model is learned and
  nothing is known beforehand. The rival is the better of `er` and `er` with twice the updates, by
  the mean area, which favours it.
- The score of a seed is the mean of its returns, 0 for a random policy and 1 for the best known.
  `dyna` is worse or better if Welch's test says so at 5%: without correction for worse, with Holm's
  over all cells and both measures for better. It is not inferior if the lower end of the one-sided
  95% interval of the difference is above -0.05, and its median number of steps to the threshold is
  at most 1.1 times the rival's; a seed that never gets there counts as infinite. Steps are compared
  by the rank-sum test.
- Hypotheses: worse nowhere, not inferior in at least 90% of the cells, better in a third.
- With the true model, on built-in environments: better than `er` in every cell in which `er` is not
  within 0.05 of the best known. (Until the trainings it did not say better than what; beside the
  better rival, TubeGridWorld-4 is not decided.)

`benchmarks/pool.py` trains what is missing; `python benchmarks/planning_cells.py collect FOLDER`
adds it to `results/planning_cells.parquet`, `table` prints the cells, and `cost` measures a step of
each agent after the warm-up, on this machine.
"""

import argparse
import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import more_environments  # noqa: F401  (registers them)
import numpy as np
import plain_environments  # noqa: F401  (registers them)
from choose_defaults import EVAL_EVERY, STEPS, place
from samples import origin
from scipy.stats import mannwhitneyu, ttest_ind

import freqdyna

STORED = Path(__file__).parents[1] / "results" / "planning_cells.parquet"
COST = STORED.with_name("planning-cost.json")
BLOCK = 100
"""Seeds of one training; the others are further units. On a GPU, 100 take hardly longer than 50,
with which the first ones were trained."""


@dataclass(frozen=True)
class Cell:
    """An environment, and the scale of its returns."""

    env: str
    random: float
    best: float
    """The best known, of any agent or seed of ours."""
    threshold: float
    built_in: bool = True

    @property
    def seeds(self) -> int:
        """How many are trained."""
        return 100 if self.built_in else 30


CELLS = [
    Cell("MountainCar-v0", -2000, -105, -120),
    Cell("GridWorld", -1736, -35, -45),
    Cell("MazeGridWorld", -1990, -100, -300),
    Cell("Acrobot-v1", -500, -75, -100),
    Cell("CartPole-v1", 22, 500, 475),
    Cell("PuddleWorld", -791, -23, -60),
    Cell("TubeGridWorld-4", -1757, -36, -45),
    Cell("LunarLander-v3", -180, 275, 0, built_in=False),
    Cell("Heating-v0", -79.0, -66.5, -72.5, built_in=False),
    Cell("Docking-v0", -2.4, 2.3, 0.0, built_in=False),
    Cell("YeastFeed-v0", -57, 48, 0.0, built_in=False),
]
DYNA, TRUE, RIVALS = "dyna", "dyna, true model", ("er", "er, 20 updates")
AGENTS: dict[str, dict[str, Any]] = {
    **{"er": {"algorithm": "er"}, "er, 20 updates": {"algorithm": "er", "planning_steps": 20}},
    **{DYNA: {"algorithm": "dyna"}, TRUE: {"algorithm": "dyna", "model": "true"}},
}
Unit = tuple[str, Cell, int]
"""The agent, the cell, and the first seed."""


def units() -> list[Unit]:
    """All trainings, the longest first."""
    order = sorted(CELLS, key=lambda cell: cell.built_in)
    return [
        (agent, cell, first)
        for agent in (DYNA, TRUE, *RIVALS[::-1])
        for cell in order
        for first in range(0, cell.seeds, BLOCK)
        if cell.built_in or agent != TRUE
    ]


def file_of(folder: Path, unit: Unit) -> Path:
    """Where a unit is stored before it is collected."""
    agent, cell, first = unit
    return place(folder, f"{agent} {first}", cell.env)


def train(folder: Path, unit: Unit) -> None:
    """Train some seeds of an agent in a cell, and store their returns."""
    agent, cell, first = unit
    began = time.monotonic()
    result = freqdyna.train(
        cell.env if cell.built_in else partial(gymnasium.make, cell.env),
        seeds=min(BLOCK, cell.seeds),
        first_seed=first,
        steps=STEPS,
        eval_every=EVAL_EVERY,
        eval_episodes=5,
        **AGENTS[agent],
    )
    trust = np.asarray(result.metrics.get("trust", np.nan))
    np.savez(
        file_of(folder, unit),
        returns=result.returns,
        trust=trust[np.isfinite(trust)].mean() if np.isfinite(trust).any() else np.nan,
        seconds=time.monotonic() - began,
        origin=origin(),
    )


def stored_names() -> set[str]:
    """The files of the trainings that were collected."""
    rows = stored_rows()
    return {place(Path(), f"{row['agent']} {row['first']}", row["env"]).name for row in rows}


def collect(folder: Path) -> None:
    """Add all trainings of a folder to the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {(row["agent"], row["env"], row["first"]): row for row in stored_rows()}
    for unit in units():
        if (path := file_of(folder, unit)).exists():
            agent, cell, first = unit
            with np.load(path) as stored:
                rows[agent, cell.env, first] = {
                    **{"agent": agent, "env": cell.env, "first": first},
                    "returns": stored["returns"].tolist(),
                    **{"trust": float(stored["trust"]), "origin": str(stored["origin"])},
                }
    pq.write_table(pa.Table.from_pylist(list(rows.values())), STORED, compression="zstd")


def stored_rows() -> list[dict[str, Any]]:
    """What the file has, one row for each unit."""
    import pyarrow.parquet as pq

    return pq.read_table(STORED).to_pylist() if STORED.exists() else []


def returns_of(rows: list[dict[str, Any]], agent: str, cell: Cell) -> np.ndarray:
    """All seeds of an agent in a cell, of shape (seeds, evaluations)."""
    blocks = [row["returns"] for row in rows if (row["agent"], row["env"]) == (agent, cell.env)]
    return np.concatenate([np.array(block) for block in blocks]) if blocks else np.zeros((0, 1))


def area(cell: Cell, returns: np.ndarray) -> np.ndarray:
    """The score of each seed."""
    return (returns.mean(1) - cell.random) / (cell.best - cell.random)


def steps_to(cell: Cell, returns: np.ndarray) -> np.ndarray:
    """The step of the first evaluation of each seed that reaches the threshold."""
    reached = returns >= cell.threshold
    first = (1 + reached.argmax(1)) * float(EVAL_EVERY)
    return np.where(reached.any(1), first, np.inf)


def holm(p_values: list[float]) -> list[float]:
    """Holm's corrected p-values."""
    order, corrected, least = np.argsort(p_values), list(p_values), 0.0
    for rank, place_of in enumerate(order):
        least = max(least, (len(p_values) - rank) * p_values[place_of])
        corrected[place_of] = min(least, 1.0)
    return corrected


def compare(rows: list[dict[str, Any]], agent: str) -> list[dict[str, Any]]:
    """One row for each cell in which an agent and both rivals were trained."""
    results: list[dict[str, Any]] = []
    for cell in CELLS:
        own = returns_of(rows, agent, cell)
        others = [returns_of(rows, rival, cell) for rival in RIVALS]
        if not all(map(len, (own, *others))):
            continue
        areas = [area(cell, other) for other in others]
        best = int(np.mean(areas[1]) > np.mean(areas[0]))
        ours, theirs = area(cell, own), areas[best]
        test = ttest_ind(ours, theirs, equal_var=False)
        low, high = test.confidence_interval(0.9)  # its lower end is that of a one-sided 95%
        steps, other_steps = steps_to(cell, own), steps_to(cell, others[best])
        sooner = mannwhitneyu(steps, other_steps, alternative="less").pvalue
        medians = np.median(steps), np.median(other_steps)
        results.append(
            {
                **{"cell": cell, "seeds": len(own), "rival": RIVALS[best]},
                **{"ours": ours.mean(), "theirs": theirs.mean(), "low": low, "high": high},
                **{"medians": medians, "worse": test.statistic < 0 and test.pvalue < 0.05},
                "not inferior": low > -0.05 and medians[0] <= 1.1 * medians[1],
                "p area": test.pvalue if test.statistic > 0 else 1.0,
                "p steps": sooner,
            }
        )
    corrected = holm([row[name] for row in results for name in ("p area", "p steps")])
    for i, row in enumerate(results):
        row["better"] = min(corrected[2 * i : 2 * i + 2]) < 0.05
    return results


def table() -> str:
    """The cells of `dyna` with its learned model, and with the true one, in Markdown."""
    rows, lines = stored_rows(), []
    for agent in (DYNA, TRUE):
        names = "`er`", "`er`, 20 updates", f"`{DYNA}`" + agent.removeprefix(DYNA)
        lines += [
            "| environment, seeds | "
            + " | ".join(names)
            + " | less the better, 90% | steps | trust | |",
            "|---" * 8 + "|",
        ]
        for row in compare(rows, agent):
            cell, difference = row["cell"], row["ours"] - row["theirs"]
            all_returns = [returns_of(rows, name, cell) for name in (*RIVALS, agent)]
            medians = [np.median(steps_to(cell, returns)) for returns in all_returns]
            cells = [f"{cell.env}, {row['seeds']}"]
            cells += [f"{area(cell, returns).mean():.3f}" for returns in all_returns]
            cells += [f"{difference:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"]
            cells += [", ".join("never" if m == np.inf else f"{m:,.0f}" for m in medians)]
            trusts = [r["trust"] for r in rows if (r["agent"], r["env"]) == (agent, cell.env)]
            cells += ["" if agent == TRUE else f"{np.mean(trusts):.2f}"]
            cells += [", ".join(w for w in ("worse", "not inferior", "better") if row[w])]
            lines.append("| " + " | ".join(cells) + " |")
        lines += ["", beside_er(rows, agent), ""]
    return "\n".join(lines)


def beside_er(rows: list[dict[str, Any]], agent: str) -> str:
    """An agent and `er` with as many updates, by the mean area.

    Added after the trainings, except for the hypothesis about the true model.
    """
    ours, theirs = (
        {cell.env: area(cell, returns_of(rows, name, cell)) for cell in CELLS}
        for name in (agent, "er")
    )
    tests = {
        env: ttest_ind(areas, theirs[env], equal_var=False)
        for env, areas in ours.items()
        if len(areas) and len(theirs[env])
    }
    corrected = holm([test.pvalue for test in tests.values()])
    decided = [env for env, p in zip(tests, corrected, strict=True) if p < 0.05]
    higher, lower = (
        [env for env in decided if sign * tests[env].statistic > 0] for sign in (1, -1)
    )
    count = sum(test.statistic > 0 for test in tests.values())
    return (
        f"`{agent}` has a higher mean than `er` in {count} of {len(tests)} cells; "
        f"decidedly, corrected by Holm: {higher}, and lower in {lower}."
    )


def cost(env: str = "CartPole-v1", rounds: int = 7, steps: int = 100) -> None:
    """Print and store the milliseconds of a step: the median of several rounds, in turns."""
    import jax

    from freqdyna.config import Config
    from freqdyna.training import api

    seeds = 5 if jax.default_backend() == "cpu" else 50
    common = {"env": env, "seeds": seeds, "steps": STEPS, "warmup_steps": 0}
    blocks = [api.prepare(Config.of(common | agent)).block for agent in AGENTS.values()]
    states = [block.advance(block.init(), 0, steps) for block in blocks]
    seconds = np.zeros((rounds, len(blocks)))
    for i in range(rounds):
        for j, block in enumerate(blocks):
            began = time.perf_counter()
            states[j] = jax.block_until_ready(block.advance(states[j], steps, 2 * steps))
            seconds[i, j] = time.perf_counter() - began
    medians = np.median(seconds, axis=0) / steps
    for name, of_step in zip(AGENTS, medians, strict=True):
        print(f"{name}: {1e3 * of_step:.1f} ms, {of_step / medians[0]:.2f} times er ({env})")
    stored = json.loads(COST.read_text())
    stored[origin()] = dict(zip(AGENTS, (1e3 * medians).round(2).tolist(), strict=True))
    COST.write_text(json.dumps(stored, indent=1) + "\n")


def main() -> None:
    """Collect, print or measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("collect", "table", "cost"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/cells"))
    options = parser.parse_args()
    match options.action:
        case "collect":
            collect(options.folder)
        case "table":
            print(table())
        case "cost":
            cost()


if __name__ == "__main__":
    main()
