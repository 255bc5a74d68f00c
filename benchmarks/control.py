"""Continuous control: the goals of SAC beside public curves, and its speed.

`benchmarks/pool.py` trains what is missing; `python benchmarks/control.py collect FOLDER` adds it
to `results/control.parquet`, `show` prints tables and draws `er` beside public curves, which
`peers FILE.csv` has imported, and `speed` measures updates per second
(`results/control-speed.json`).

What was decided before the trainings:

- 2026-11-18: Hopper, Walker2d and HalfCheetah have no say in the defaults. They are trained once,
  with the winner of a choice on Pendulum, InvertedDoublePendulum and Ant.
- 2026-11-19, before any training of the goals: that choice ends undecided, because it takes more
  time than there is. On Pendulum all candidates were level but two updates per step. The default
  is ten, because published agents for few steps have 8 to 20. An evaluation is one episode every
  2,500 steps where there are more than 10,000: five took longer than the steps between them.
- 2026-11-19, after that training (`FIRST`): Walker2d, Hopper and HalfCheetah were far below their
  goals. Small trainings (64 x 64 units, seeds from 3000) on HalfCheetah-v4, Ant-v4 and Pendulum
  with rewards times 0.01 and 100 showed why: the critics grew too slowly for large rewards. The
  size of the steps of their output layers now follows the targets. The goals are measured once
  more, with seeds from 10. Hopper and Walker2d had no say; HalfCheetah had.
- 2026-11-19, before any training of the question on Hopper: it gets 10,000 steps, because 50,000
  with 20 updates would take 40 minutes of one H200.
- 2026-11-19, before any training with climbs of g on Hopper: they have at most 20 iterations per
  step there, because the 200 of all other climbs would take over an hour.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from choose_defaults import place
from planning_cells import holm
from samples import CORES, interval, origin
from scipy.stats import ttest_ind

import freqdyna

ROOT = Path(__file__).parents[1]
STORED = ROOT / "results" / "control.parquet"
PEERS = ROOT / "results" / "control-peers.parquet"
SPEED = ROOT / "results" / "control-speed.json"
FIGURE = ROOT / "docs" / "images" / "control.png"
SEEDS, FIRST_SEED = 10, 10
FIRST = "er, first measurement"
"""With seeds from 0, before what is written above."""


@dataclass(frozen=True)
class Task:
    """An environment, and how long it is trained."""

    env: str
    steps: int
    goal: float | None = None
    """The mean of the last three evaluations that is wanted."""


GOALS = (
    Task("Pendulum-v1", 5_000, -170),
    Task("InvertedPendulum-v5", 5_000, 1_000),
    # REDQ with 20 updates per step, the mean of public curves.
    Task("Hopper-v4", 50_000, 2_485),
    Task("Walker2d-v4", 50_000, 1_341),
    Task("HalfCheetah-v4", 50_000, 6_477),
)
PLANNING: dict[str, dict[str, Any]] = {
    "dyna, visited states": {"algorithm": "dyna-replay"},
    "dyna, uniform": {"algorithm": "dyna-uniform"},
    "dyna, td-error": {"algorithm": "dyna"},
    "dyna, value": {"algorithm": "dyna-value"},
    "dyna, frequency": {"algorithm": "dyna-frequency"},
}
PEER_COLORS = {
    **{"SAC": "tab:gray", "REDQ (20 updates a step)": "tab:blue", "CrossQ": "tab:green"},
    **{"DroQ (20)": "tab:cyan", "SimBaV2 (8)": "tab:purple", "XQC": "tab:orange"},
}
"""The public curves that are drawn; in brackets the updates per step."""
REDQ = "REDQ (20 updates a step)"
Unit = tuple[str, Task, dict[str, Any]]
"""The name of the agent, the task, and the settings."""


def units() -> list[Unit]:
    """All trainings: the goals, and the question of this library."""
    goals: list[Unit] = [("er", task, {}) for task in GOALS]
    agents: dict[str, dict[str, Any]] = {"er": {}, **PLANNING}
    few = {n: agents[n] for n in ("er", "dyna, td-error", "dyna, frequency")}
    asked = [(GOALS[0], updates, agents) for updates in (1, 5, 20)]
    hopper = Task("Hopper-v4", 10_000)
    short: dict[str, dict[str, Any]] = {
        "dyna, frequency": agents["dyna, frequency"] | {"search_control": {"limit": 20}}
    }
    asked += [(hopper, 5, agents | short), (hopper, 20, few | short)]
    return goals + [
        (f"{name}, {updates} updates", task, {**agents[name], "planning_steps": updates})
        for task, updates, names in asked
        for name in names
    ]


def file_of(folder: Path, unit: Unit) -> Path:
    """Where a training is stored before it is collected."""
    name, task, _ = unit
    return place(folder, name, task.env)


def train(folder: Path, unit: Unit) -> None:
    """Train an agent on a task, and store its returns of shape (seeds, evaluations)."""
    name, task, settings = unit
    began = time.monotonic()
    result = freqdyna.train(
        task.env,
        **{"algorithm": "er", **settings},
        seeds=SEEDS,
        first_seed=FIRST_SEED,
        steps=task.steps,
        eval_every=500 if task.steps <= 10_000 else 2_500,
        eval_episodes=5 if task.steps <= 10_000 else 1,
    )
    np.savez(
        file_of(folder, unit),
        steps=result.steps,
        returns=result.returns,
        seconds=time.monotonic() - began,
        settings=json.dumps(settings),
        origin=origin(),
    )
    last = result.returns[:, -3:].mean(1)
    print(f"{name} on {task.env}: {last.mean():.0f} {interval(last)}", flush=True)


def stored_names() -> set[str]:
    """The files of the trainings that were collected."""
    rows = stored_rows()
    return {place(Path(), row["agent"], row["env"]).name for row in rows}


def collect(folder: Path) -> None:
    """Add all trainings of a folder to the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {(row["agent"], row["env"]): row for row in stored_rows()}
    for unit in units():
        if (path := file_of(folder, unit)).exists():
            name, task, _ = unit
            with np.load(path) as stored:
                rows[name, task.env] = {
                    **{"agent": name, "env": task.env},
                    **{key: stored[key].tolist() for key in ("steps", "returns", "seconds")},
                    **{key: str(stored[key]) for key in ("settings", "origin")},
                }
    pq.write_table(pa.Table.from_pylist(list(rows.values())), STORED, compression="zstd")


def stored_rows() -> list[dict[str, Any]]:
    """What the file has, one row for each training."""
    import pyarrow.parquet as pq

    return pq.read_table(STORED).to_pylist() if STORED.exists() else []


def import_peers(file: Path) -> None:
    """Store the beginning of public curves, a CSV file with algorithm, env, seed, step, return."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from freqdyna.results.imports import import_curves

    rows = []
    for task in GOALS[2:]:
        for name in PEER_COLORS:
            result = import_curves(
                file, name=name, env=task.env, where={"algorithm": name, "env": task.env}
            )
            early = result.steps <= 1.3 * task.steps
            rows.append(
                {
                    **{"agent": name, "env": task.env, "steps": result.steps[early].tolist()},
                    "returns": result.returns[:, early].tolist(),
                    "origin": "DAVIAN-Robotics/SimbaV2, Apache-2.0; XQC: danielpalenicek/xqc, MIT",
                }
            )
    pq.write_table(pa.Table.from_pylist(rows), PEERS, compression="zstd")


def peer_curve(name: str, env: str) -> tuple[np.ndarray, np.ndarray] | None:
    """The steps of a public curve, and its returns of shape (seeds, steps)."""
    import pyarrow.parquet as pq

    rows = pq.read_table(PEERS).to_pylist()
    found = [row for row in rows if (row["agent"], row["env"]) == (name, env)]
    return (np.array(found[0]["steps"]), np.array(found[0]["returns"])) if found else None


def table() -> str:
    """The mean of the last three evaluations of each training, in Markdown."""
    goals = {task.env: task.goal for task in GOALS}
    lines = ["| task | real steps | agent | return | goal | minutes |", "|---|---|---|---|---|---|"]
    for row in sorted(stored_rows(), key=lambda row: (row["env"], row["agent"])):
        last, steps = np.array(row["returns"])[:, -3:].mean(1), int(row["steps"][-1])
        goal = goals[row["env"]] if row["agent"] in ("er", FIRST) else None
        cells = [row["env"], f"{steps:,}", row["agent"], _interval(last)]
        cells += ["" if goal is None else f"{goal:,}", f"{row['seconds'] / 60:.0f}"]
        if goal is not None and (peer := peer_curve(REDQ, row["env"])):
            theirs = np.array([np.interp(steps, peer[0], curve) for curve in peer[1]])
            # Lower by Welch's test, one-sided, at 5%.
            lower = ttest_ind(last, theirs, equal_var=False, alternative="less").pvalue < 0.05
            cells[4] += " (decidedly lower)" if lower else " (not decidedly lower)"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def question() -> str:
    """The same for each search-control and number of updates; bold: ahead of `er` in its column."""
    rows = {(row["agent"], row["env"]): np.array(row["returns"]) for row in stored_rows()}
    columns = [("Pendulum-v1", 1), ("Pendulum-v1", 5), ("Pendulum-v1", 20)]
    columns += [("Hopper-v4", 5), ("Hopper-v4", 20)]
    cells: dict[str, list[str]] = {name: [] for name in ("er", *PLANNING)}
    for env, updates in columns:
        of_agent = {n: rows.get((f"{n}, {updates} updates", env)) for n in cells}
        last = {n: r[:, -3:].mean(1) for n, r in of_agent.items() if r is not None}
        rivals = [n for n in last if n != "er"]
        tests = [ttest_ind(last[n], last["er"], equal_var=False).pvalue for n in rivals]
        corrected = dict(zip(rivals, holm(tests), strict=True))
        for name, texts in cells.items():
            text = _interval(last[name]) if name in last else ""
            texts.append(f"**{text}**" if corrected.get(name, 1.0) < 0.05 else text)
    names = " | ".join(f"{env}, {updates}" for env, updates in columns)
    lines = [f"| planning from | {names} |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join(lines + [f"| {n} | " + " | ".join(cells[n]) + " |" for n in cells])


def _interval(values: np.ndarray) -> str:
    """The mean, and its bootstrap interval (95%)."""
    low, high = (f"{bound:.0f}" for bound in interval(values))
    return f"{values.mean():.0f} [{low}, {high}]"


def draw() -> None:
    """Draw `er` with its defaults beside the public curves; those of few points as points."""
    import matplotlib.pyplot as plt

    ours = {row["env"]: row for row in stored_rows() if row["agent"] == "er"}
    tasks = [task for task in GOALS if task.env in ours]
    if not tasks:
        return
    figure, axes = plt.subplots(1, len(tasks), figsize=(3.2 * len(tasks), 3.6), squeeze=False)
    for axis, task in zip(axes[0], tasks, strict=True):
        for name, color in {"er": "tab:red", **PEER_COLORS}.items():
            row = ours[task.env]
            own = np.array(row["steps"]), np.array(row["returns"])
            curve = own if name == "er" else peer_curve(name, task.env)
            if curve is None:
                continue
            steps, mean = curve[0] / 1_000, curve[1].mean(0)
            low, high = np.array([interval(values) for values in curve[1].T]).T
            if len(steps) < 4:
                error = [mean[-1:] - low[-1:], high[-1:] - mean[-1:]]
                axis.errorbar(steps[-1:], mean[-1:], error, fmt="o", color=color, capsize=3)
                continue
            axis.plot(steps, mean, color=color)
            axis.fill_between(steps, low, high, color=color, alpha=0.15, lw=0)
        axis.axhline(task.goal, color="black", lw=0.8, ls=":")
        axis.set(title=task.env, xlabel="thousand steps", xlim=(0, 1.04 * task.steps / 1_000))
    axes[0, 0].set_ylabel("return")
    for name, color in {"er": "tab:red", **PEER_COLORS}.items():
        axes[0, -1].plot([], [], color=color, label=name)
    figure.legend(loc="lower center", ncols=7, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(FIGURE, dpi=80)


def updates_of_peer(updates: int) -> float:
    """Updates per second of Stable-Baselines3's SAC, which has two critics, on one thread."""
    import torch
    from stable_baselines3 import SAC

    torch.set_num_threads(1)
    model = SAC("MlpPolicy", "Pendulum-v1", gradient_steps=updates, device="cpu")
    model.learn(150)
    began = time.perf_counter()
    model.learn(100, reset_num_timesteps=False)
    return 100 * updates / (time.perf_counter() - began)


def product_rate() -> float:
    """Operations per second, in units of 10⁹, of a product of two large matrices."""
    import jax
    import jax.numpy as jnp

    n, times = 2048 if CORES < 8 else 8192, []
    matrix, product = jnp.ones((n, n)), jax.jit(lambda x: x @ x)
    for _ in range(6):
        began = time.perf_counter()
        product(matrix).block_until_ready()
        times.append(time.perf_counter() - began)
    return 2 * n**3 / float(np.median(times)) / 1e9


def speed(seeds: int, updates: int = 10) -> None:
    """Store updates per second over all seeds, with two layers of 256 and mini-batches of 256.

    Stable-Baselines3 runs one process for each core, one after the other with ours.
    """
    import jax

    from freqdyna.config import Config
    from freqdyna.training import api

    plain = {"learner.activation": "relu", "learner.layer_norm": False}
    variants: dict[str, dict[str, Any]] = {
        **{f"{count} critics": {"learner.critics": count} for count in (2, 10)},
        "2 critics, the networks of Stable-Baselines3": {"learner.critics": 2, **plain},
        "10 critics, Hopper-v4 stepped in Python": {"env": "Hopper-v4"},
    }
    rates = {}
    for name, changes in variants.items():
        settings = {"env": "Pendulum-v1", "seeds": seeds, "steps": 10_000, "warmup_steps": 0}
        settings |= {"planning_steps": updates, **changes}
        block, steps = api.prepare(Config.of(settings)).block, 20 if CORES < 8 else 200
        state = jax.block_until_ready(block.advance(block.init(), 0, steps))
        times = []
        for turn in range(1, 4):
            began = time.perf_counter()
            state = block.advance(state, turn * steps, (turn + 1) * steps)
            jax.block_until_ready(state)
            times.append((time.perf_counter() - began) / steps)
        rates[name] = float(seeds * updates / np.median(times))
        print(f"{seeds} seeds, {name}: {rates[name]:,.0f} updates/s", flush=True)
    if jax.default_backend() == "cpu":
        with ProcessPoolExecutor(CORES, max_tasks_per_child=1) as pool:
            theirs = sum(pool.map(updates_of_peer, [updates] * CORES))
        rates[f"Stable-Baselines3, {CORES} processes"] = theirs
        print({name: f"{rate / theirs:.2f} times" for name, rate in rates.items()})
    rates["product of large matrices, GFLOP/s"] = product_rate()
    stored = json.loads(SPEED.read_text()) if SPEED.exists() else {}
    rounded = {name: round(rate, 1) for name, rate in rates.items()}
    SPEED.write_text(json.dumps(stored | {f"{seeds} seeds, {origin()}": rounded}, indent=1) + "\n")


def main() -> None:
    """Import, collect, show or measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("peers", "collect", "show", "speed"))
    parser.add_argument("path", type=Path, nargs="?", default=ROOT / "runs" / "control")
    parser.add_argument("--seeds", type=int, default=2, help="of `speed`")
    options = parser.parse_args()
    match options.action:
        case "peers":
            import_peers(options.path)
        case "collect":
            collect(options.path)
        case "show":
            print(table(), question(), sep="\n\n")
            draw()
        case "speed":
            speed(options.seeds)


if __name__ == "__main__":
    main()
