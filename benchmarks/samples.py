"""How many environment steps `er` needs with its defaults, beside DQN of other libraries.

`python benchmarks/samples.py train FOLDER` trains what FOLDER lacks: `er` with all seeds at once,
and Stable-Baselines3's DQN with one process per core, as rl-zoo tuned it, with the settings of
CleanRL, and with its own defaults. It takes some hours on two cores, and can be interrupted.
`time FOLDER` measures seconds on this machine, and `speed` updates per second with equal networks.
`collect FOLDER` writes `results/samples.parquet`, and `show` writes the tables and the figure of
docs/sample-efficiency.md.

Evaluations have five greedy episodes. Others run for as many steps as rl-zoo trains them, so that
their schedules are theirs. A seed reaches a threshold with the first evaluation that has it.
"""

import argparse
import datetime
import json
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import independent_environments  # noqa: F401  (registers them)
import numpy as np
import plain_environments  # noqa: F401  (registers them)

ROOT = Path(__file__).parents[1]
SPEED = ROOT / "results" / "samples-speed.json"
STORED, FIGURE = ROOT / "results" / "samples.parquet", ROOT / "docs" / "images" / "samples.png"
PAGE = ROOT / "docs" / "sample-efficiency.md"
EPISODES, PEER_SEEDS, SPEED_UPDATES = 5, 10, 10
CORES = len(os.sched_getaffinity(0))
Curve = dict[str, np.ndarray]
"""`returns` of shape (seeds, evaluations), and the `steps` and `seconds` before each."""


@dataclass(frozen=True)
class Task:
    """An environment, and how long it is trained."""

    name: str
    steps: int
    """Steps of `er`."""
    seeds: int = 20
    every: int = 1_000
    """Steps between evaluations."""
    id: str = ""
    """Gymnasium's id; empty if only `er` is trained."""
    limit: int | None = None
    """The episode limit, if it is not Gymnasium's."""
    compiled: bool = True
    """Whether `er` uses the built-in environment with the same dynamics."""
    threshold: float | None = None
    peer_steps: int = 0
    tuned: str = ""
    """The name of rl-zoo's settings."""

    def make(self) -> "gymnasium.Env[Any, Any]":
        """Gymnasium's own environment."""
        return gymnasium.make(self.id, max_episode_steps=self.limit)


TASKS = {
    task.name: task
    for task in (
        Task("CartPole", 20_000, 20, 1_000, "CartPole-v1", None, True, 475, 50_000, "CartPole"),
        Task("Acrobot", 20_000, 20, 1_000, "Acrobot-v1", None, True, -100, 100_000, "Lander"),
        Task(
            *("MountainCar, 2,000 steps", 20_000, 20, 1_000, "MountainCar-v0", 2_000, True),
            *(-120, 120_000, "MountainCar"),
        ),
        Task(
            *("MountainCar, 200 steps", 60_000, 20, 2_000, "MountainCar-v0", None, False),
            *(-115, 120_000, "MountainCar"),
        ),
        Task(
            *("LunarLander", 100_000, 10, 2_000, "LunarLander-v3", None, False),
            *(200, 100_000, "Lander"),
        ),
        # For the confirmation of the defaults; rl-zoo has no settings for these.
        Task("MazeGridWorld", 20_000),
        Task("TubeGridWorld-4", 20_000),
        Task("Heating", 20_000, id="Heating-v0", compiled=False, peer_steps=20_000),
        Task("Docking", 20_000, id="Docking-v0", compiled=False, peer_steps=20_000),
        # Written after the second rule had chosen.
        Task("IslandGrid", 20_000, id="IslandGrid-v0", compiled=False, peer_steps=20_000),
        Task("DinghyToBuoy", 20_000, id="DinghyToBuoy-v0", compiled=False, peer_steps=20_000),
    )
}
COMPARED = [task for task in TASKS.values() if task.tuned]

WIDE = {"policy_kwargs": {"net_arch": [256, 256]}}
RL_ZOO: dict[str, dict[str, Any]] = {
    "CartPole": {
        **{"learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "gamma": 0.99},
        **{"learning_starts": 1_000, "target_update_interval": 10, "train_freq": 256},
        **{"gradient_steps": 128, "exploration_fraction": 0.16, "exploration_final_eps": 0.04},
        **WIDE,
    },
    "MountainCar": {
        **{"learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "gamma": 0.98},
        **{"learning_starts": 1_000, "target_update_interval": 600, "train_freq": 16},
        **{"gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07},
        **WIDE,
    },
    # Acrobot and LunarLander have the same.
    "Lander": {
        **{"learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "gamma": 0.99},
        **{"learning_starts": 0, "target_update_interval": 250, "train_freq": 4},
        **{"gradient_steps": -1, "exploration_fraction": 0.12, "exploration_final_eps": 0.1},
        **WIDE,
    },
}
CLEANRL_SCHEDULE = 250_000
"""Steps of CleanRL's schedule of exploration: half of its 500,000 steps."""
CLEANRL: dict[str, Any] = {
    **{"learning_rate": 2.5e-4, "batch_size": 128, "buffer_size": 10_000, "gamma": 0.99},
    **{"learning_starts": 10_000, "target_update_interval": 500, "train_freq": 10},
    **{"gradient_steps": 1, "exploration_final_eps": 0.05},
    "policy_kwargs": {"net_arch": [120, 84]},
}
OURS, PAPER = "er", "er, preset paper"
ZOO, CLEAN, DEFAULTS = "rl-zoo", "CleanRL's settings", "Stable-Baselines3"
COLORS = {
    **{OURS: "tab:red", PAPER: "tab:orange"},
    **{ZOO: "tab:blue", CLEAN: "tab:green", DEFAULTS: "tab:gray"},
}
"""The agents that are shown."""
AXES = "environment steps", "seconds for ten seeds on two cores"


def peer_settings(task: Task, agent: str) -> dict[str, Any]:
    """The arguments of Stable-Baselines3's DQN."""
    if agent == CLEAN:
        return {**CLEANRL, "exploration_fraction": CLEANRL_SCHEDULE / task.peer_steps}
    return RL_ZOO[task.tuned] if agent == ZOO else {}


def peer(task: Task, agent: str, seed: int, steps: int, evaluate: bool = True) -> Curve:
    """Train Stable-Baselines3's DQN on one thread; the seconds are those of learning alone."""
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.callbacks import BaseCallback

    torch.set_num_threads(1)
    model = DQN("MlpPolicy", task.make(), seed=seed, device="cpu", **peer_settings(task, agent))
    others = gymnasium.vector.SyncVectorEnv([task.make] * EPISODES)
    rows: list[tuple[int, float, float]] = []

    class Evaluate(BaseCallback):  # type: ignore[misc]
        began, paused = time.perf_counter(), 0.0

        def _on_step(self) -> bool:
            if self.num_timesteps % task.every == 0:
                now = time.perf_counter()
                mean = greedy_return(self.model, others, seed) if evaluate else np.nan
                rows.append((self.num_timesteps, now - self.began - self.paused, mean))
                self.paused += time.perf_counter() - now
            return self.num_timesteps < steps

    model.learn(task.peer_steps, callback=Evaluate())
    at, seconds, returns = np.array(rows).T
    return {"steps": at, "seconds": seconds, "returns": returns[None]}


def greedy_return(model: Any, envs: gymnasium.vector.SyncVectorEnv, seed: int) -> float:
    """The mean return of one greedy episode in each environment."""
    observations, _ = envs.reset(seed=[seed + 1000 * i for i in range(EPISODES)])
    total, going = np.zeros(EPISODES), np.ones(EPISODES, bool)
    while going.any():
        actions, _ = model.predict(observations, deterministic=True)
        observations, rewards, ended, truncated, _ = envs.step(actions)
        total += np.where(going, rewards, 0.0)
        going &= ~(ended | truncated)
    return float(total.mean())


def ours(task: Task, agent: str, steps: int, seeds: int) -> Curve:
    """Train `er` with its defaults, or with those of the paper."""
    import freqdyna

    settings: dict[str, Any] = {"seeds": seeds, "steps": steps, "eval_every": task.every}
    settings |= {"eval_episodes": EPISODES, "eval_exploration": 0.0}
    if task.compiled and task.limit is not None:
        settings["env.episode_limit"] = task.limit
    env: Any = (task.id or task.name) if task.compiled else task.make
    preset = "paper" if agent == PAPER else None
    result = freqdyna.train(env, "er", preset=preset, **settings)
    seconds = result.metrics["seconds"][0]
    return {"steps": result.steps, "seconds": seconds, "returns": result.returns}


def place(folder: Path, task: Task, agent: str, seed: int | None) -> Path:
    """The file of one training."""
    return folder / f"{task.name}.{agent}.{'all' if seed is None else seed}.npz"


def write(path: Path, curve: Curve) -> str:
    """Store a curve, and where it was computed."""
    np.savez(path.with_suffix(".part.npz"), origin=origin(), **curve)  # type: ignore[arg-type]
    path.with_suffix(".part.npz").rename(path)
    return f"{path.stem}: {curve['returns'][:, -1].mean():.0f} at the end"


def train_peer(folder: Path, task: Task, agent: str, seed: int) -> str:
    """Train and store one seed of another library."""
    return write(place(folder, task, agent, seed), peer(task, agent, seed, task.peer_steps))


def train(folder: Path, only: str | None, names: list[str]) -> None:
    """Train what a folder lacks."""
    tasks = [TASKS[name] for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    for task, agent in [(t, a) for a in (OURS, PAPER) for t in tasks if only != "peers"]:
        if not (path := place(folder, task, agent, None)).exists():
            print(write(path, ours(task, agent, task.steps, task.seeds)), flush=True)
    if only == "ours":
        return
    # The longest first, so that no core waits at the end.
    order = sorted((t for t in tasks if t.peer_steps), key=lambda task: -task.peer_steps)
    units = [
        (task, agent, seed)
        for agent in (ZOO, DEFAULTS, CLEAN)
        for task in order
        for seed in range(PEER_SEEDS)
        if (task.tuned or agent != ZOO) and not place(folder, task, agent, seed).exists()
    ]
    with ProcessPoolExecutor(CORES, max_tasks_per_child=1) as pool:
        waiting = [pool.submit(train_peer, folder, *unit) for unit in units]
        for number, done in enumerate(as_completed(waiting), 1):
            print(f"{number} of {len(units)}: {done.result()}", flush=True)


def _seconds_of_peer(task: Task, agent: str, steps: int) -> float:
    curve = peer(task, agent, 0, steps, evaluate=False)
    half = len(curve["steps"]) // 2 - 1
    seconds, at = curve["seconds"], curve["steps"]
    return float((seconds[-1] - seconds[half]) / (at[-1] - at[half]))


def measure_time(folder: Path) -> None:
    """Seconds per step of ten seeds on all cores: others have one process per core."""
    file = folder / "seconds.json"
    rows = json.loads(file.read_text())["seconds"] if file.exists() else {}
    for task in COMPARED:
        if task.name in rows:
            continue
        steps = 3 * task.every
        curve = ours(task, OURS, steps, PEER_SEEDS)
        seconds = {OURS: (curve["seconds"][-1] - curve["seconds"][-2]) / task.every}
        for agent in (ZOO, CLEAN, DEFAULTS):
            # CleanRL's settings learn from step 10,000 on.
            steps = 14_000 if agent == CLEAN else 4_000
            with ProcessPoolExecutor(CORES, max_tasks_per_child=1) as pool:
                waiting = [pool.submit(_seconds_of_peer, task, agent, steps) for _ in range(CORES)]
                of_one = np.mean([done.result() for done in waiting])
            seconds[agent] = of_one * PEER_SEEDS / CORES
        rows[task.name] = seconds
        print(task.name, {name: f"{1000 * s:.2f} ms" for name, s in seconds.items()}, flush=True)
        file.write_text(json.dumps({"machine": machine(), "seconds": rows}))


def _updates_of_peer(batch: int) -> float:
    """Updates per second of Stable-Baselines3's DQN on one thread."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    settings: dict[str, Any] = {"learning_starts": 100, "train_freq": 1, "batch_size": batch}
    settings |= {"gradient_steps": SPEED_UPDATES, "policy_kwargs": {"net_arch": [128, 128]}}
    model = DQN("MlpPolicy", "MountainCar-v0", device="cpu", **settings)
    model.learn(200)
    began = time.perf_counter()
    model.learn(400, reset_num_timesteps=False)
    return 400 * SPEED_UPDATES / (time.perf_counter() - began)


def measure_speed() -> None:
    """Updates per second with equal networks, all cores busy, ours and theirs one after the other.

    128 x 128 ReLU units, uniform replay, one-step targets; ours has ten seeds at once.
    """
    import freqdyna

    equal: dict[str, Any] = {
        **{"learner.activation": "relu", "learner.layer_norm": False, "learner.double": False},
        **{"learner.n_step": 1, "replay.prioritized_share": 0.0, "scale_observations": False},
        **{"seeds": PEER_SEEDS, "planning_steps": SPEED_UPDATES, "warmup_steps": 0},
        **{"env.episode_limit": 200, "steps": 1_500, "eval_every": 500, "eval_episodes": 1},
    }
    rates: dict[int, list[float]] = {}
    for batch in (32, 64, 128, 256):
        result = freqdyna.train("MountainCar-v0", "er", **equal, batch_size=batch, progress=False)
        began, ended = result.metrics["seconds"][0, [0, -1]]
        rate = PEER_SEEDS * 1_000 * SPEED_UPDATES / (ended - began)
        with ProcessPoolExecutor(CORES, max_tasks_per_child=1) as pool:
            theirs = sum(pool.map(_updates_of_peer, [batch] * CORES))
        rates[batch] = [round(float(rate)), round(theirs)]
        print(f"batch {batch}: {rate:,.0f} and {theirs:,.0f} updates/s, ratio {rate / theirs:.1f}")
    columns = ["er", "Stable-Baselines3"]
    text = {"updates per second by batch size": rates, "columns": columns, "origin": origin()}
    SPEED.write_text(json.dumps(text) + "\n")


def origin() -> str:
    """Machine, date and commit."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return f"{machine()}, {datetime.date.today()}, commit {git.stdout.strip() or 'unknown'}"


def machine() -> str:
    """The accelerator, or the processor and how many of its cores."""
    import jax

    if jax.default_backend() != "cpu":
        return f"one {jax.devices()[0].device_kind}"
    lines = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    name = next(x.split(":")[1].strip() for x in lines.splitlines() if "Model name" in x)
    return f"{CORES} cores of {name}"


def collect(folder: Path) -> None:
    """Replace the trainings of a folder in the Parquet file, one row for each seed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(STORED)
    stored_rows = {(row["task"], row["agent"], row["seed"]): row for row in table.to_pylist()}
    times, metadata = {}, table.schema.metadata
    if (file := folder / "seconds.json").exists():
        measured = json.loads(file.read_text())
        times, metadata = measured["seconds"], {"machine of the seconds": measured["machine"]}
    for task in TASKS.values():
        for agent in COLORS:
            for seed in [None] if agent in (OURS, PAPER) else range(PEER_SEEDS):
                if not (path := place(folder, task, agent, seed)).exists():
                    continue
                with np.load(path) as stored:
                    for i, returns in enumerate(stored["returns"]):
                        of_seed = i if seed is None else seed
                        stored_rows[task.name, agent, of_seed] = {
                            **{"task": task.name, "agent": agent, "seed": of_seed},
                            "steps": stored["steps"].astype(int).tolist(),
                            "returns": returns.tolist(),
                            "origin": str(stored["origin"]),
                        }
    for (name, agent, _), row in stored_rows.items():
        if name in times:
            row["seconds per step"] = times[name].get(agent)
    rows = pa.Table.from_pylist(list(stored_rows.values()), table.schema.with_metadata(metadata))
    pq.write_table(rows, STORED, compression="zstd")


def stored_curves() -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray, float | None]]:
    """Steps, returns of shape (seeds, evaluations), and seconds per step, by task and agent."""
    import pyarrow.parquet as pq

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in pq.read_table(STORED).to_pylist():
        groups.setdefault((row["task"], row["agent"]), []).append(row)
    return {
        key: (
            np.array(rows[0]["steps"]),
            np.array([row["returns"] for row in rows]),
            rows[0]["seconds per step"],
        )
        for key, rows in groups.items()
    }


def steps_to(steps: np.ndarray, returns: np.ndarray, threshold: float) -> np.ndarray:
    """The step at which each seed reached the threshold; infinite if it never did."""
    reached = returns >= threshold
    return np.where(reached.any(1), steps[reached.argmax(1)].astype(float), np.inf)


def interval(values: np.ndarray, statistic: Callable[..., Any] = np.mean) -> tuple[float, float]:
    """A 95% bootstrap interval over seeds, of values of shape (seeds,)."""
    generator = np.random.default_rng(0)
    drawn = generator.choice(values, (10_000, len(values)))
    low, high = np.quantile(statistic(drawn, axis=1), [0.025, 0.975], method="lower")
    return float(low), float(high)


def tables() -> str:
    """The steps to the threshold, and the returns at our number of steps, in Markdown."""
    curves = stored_curves()
    agents = [agent for agent in COLORS if any(agent == key[1] for key in curves)]
    head = " | ".join(agents) + " |\n" + "|---" * (len(agents) + 2) + "|"
    reached = [f"| median steps to the threshold | threshold | {head}"]
    returns_at = [f"| return | at step | {head}"]
    for task in TASKS.values():
        steps_cells, return_cells = [], []
        for agent in agents:
            if (task.name, agent) not in curves:
                steps_cells.append("")
                return_cells.append("")
                continue
            steps, returns, _ = curves[task.name, agent]
            mean = returns[:, steps <= task.steps][:, -3:].mean(1)
            digits = 1 if np.abs(mean).max() < 10 else 0
            low, high = (f"{bound:.{digits}f}" for bound in interval(mean))
            return_cells.append(f"{mean.mean():.{digits}f} [{low}, {high}]")
            at = steps_to(steps, returns, task.threshold or np.inf)
            low, high = (_count(bound) for bound in interval(at, np.median))
            of_seeds = f"{np.isfinite(at).sum()} of {len(at)}"
            steps_cells.append(f"{_count(np.median(at))} [{low}, {high}], {of_seeds}")
        if task.threshold is not None:
            threshold = f"{task.threshold:.0f}"
            reached.append("| " + " | ".join([task.name, threshold, *steps_cells]) + " |")
        returns_at.append("| " + " | ".join([task.name, f"{task.steps:,}", *return_cells]) + " |")
    return "\n".join(reached) + "\n\n" + "\n".join(returns_at) + "\n"


def _count(steps: float) -> str:
    return f"{steps:,.0f}" if np.isfinite(steps) else "never"


def write_page() -> None:
    """Write the tables into the page, between its marks."""
    before, mark, rest = PAGE.read_text().partition("<!-- tables -->\n")
    PAGE.write_text(f"{before}{mark}\n{tables()}\n<!-- end -->{rest.partition('<!-- end -->')[2]}")


def draw() -> None:
    """Draw the curves over steps and over seconds."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullFormatter

    curves = stored_curves()
    rows = 2 if any(seconds for *_, seconds in curves.values()) else 1
    size = 4 * len(COMPARED), 3.3 * rows
    figure, axes = plt.subplots(rows, len(COMPARED), figsize=size, sharey="col", squeeze=False)
    for column, task in zip(axes.T, COMPARED, strict=True):
        for agent, color in COLORS.items():
            if (task.name, agent) not in curves:
                continue
            steps, returns, seconds = curves[task.name, agent]
            bounds = np.array([interval(values) for values in returns.T]).T
            for axis, scale in zip(column, (1.0, seconds), strict=False):
                if scale is not None:
                    axis.plot(steps * scale, returns.mean(0), color=color, label=agent)
                    axis.fill_between(steps * scale, *bounds, color=color, alpha=0.2, lw=0)
        for axis in column:
            axis.axhline(task.threshold, color="black", lw=0.8, ls=":")
            axis.set_xscale("log")
            axis.xaxis.set_minor_formatter(NullFormatter())
        column[0].set_title(task.name)
        for axis, label in zip(column, AXES, strict=False):
            axis.set_xlabel(label)
    for axis in axes[:, 0]:
        axis.set_ylabel("return")
    drawn = [agent for agent in COLORS if any(agent == key[1] for key in curves)]
    handles = [Line2D([], [], color=COLORS[agent]) for agent in drawn]
    axes[0, -1].legend(handles, drawn, fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=80)


def main() -> None:
    """Train, measure, collect or show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "time", "speed", "collect", "show"))
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "runs" / "samples")
    parser.add_argument("--only", choices=("ours", "peers"))
    parser.add_argument("--task", choices=list(TASKS), action="append")
    options = parser.parse_args()
    match options.action:
        case "train":
            train(options.folder, options.only, options.task or list(TASKS))
        case "time":
            measure_time(options.folder)
        case "speed":
            measure_speed()
        case "collect":
            collect(options.folder)
        case "show":
            print(tables())
            write_page()
            draw()


if __name__ == "__main__":
    main()
