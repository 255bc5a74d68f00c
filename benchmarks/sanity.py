"""Compares our DQN (ER) with Stable-Baselines3's, with the same hyper-parameters.

`python benchmarks/sanity.py OUT [--processes N]`: 10 seeds each on CartPole-v1 and Acrobot-v1; one
row per evaluation in OUT/*.parquet, and a table. Results that exist are not recomputed.

Two details of Stable-Baselines3 are set as in ours: the squared error instead of the Huber loss,
and no gradient clipping.
"""

import argparse
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1")
SEEDS, STEPS, EVERY, EPISODES = 10, 30_000, 1_000, 10
RATE, DISCOUNT, EXPLORATION, WARM_UP, BUFFER = 1e-3, 0.99, 0.1, 1_000, 50_000
BATCH, UPDATES, TARGET, HIDDEN = 64, 1, 500, (64, 64)


def ours(env: str) -> np.ndarray:
    """Returns of ER, shape (seeds, evaluations)."""
    import freqdyna
    from freqdyna.agents.presets import PAPERS_LEARNER

    result = freqdyna.train(
        env=env,
        algorithm="er",
        seeds=SEEDS,
        steps=STEPS,
        planning_steps=UPDATES,
        batch_size=BATCH,
        exploration=EXPLORATION,
        warmup_steps=WARM_UP,
        scale_observations=False,
        eval_every=EVERY,
        eval_episodes=EPISODES,
        eval_exploration=0.0,
        **PAPERS_LEARNER
        | {
            "learner.learning_rate": RATE,
            "learner.discount": DISCOUNT,
            "learner.target_period": TARGET,
            "learner.hidden": HIDDEN,
            "replay.prioritized_share": 0.0,
        },
        replay={"capacity": BUFFER},
    )
    return result.metrics["return"]


def stable_baselines3(env: str, seed: int) -> np.ndarray:
    """Returns of one seed of Stable-Baselines3's DQN, shape (1, evaluations)."""
    import gymnasium
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    torch.set_num_threads(1)
    torch.nn.functional.smooth_l1_loss = torch.nn.functional.mse_loss
    model = DQN(
        "MlpPolicy",
        env,
        learning_rate=RATE,
        gamma=DISCOUNT,
        buffer_size=BUFFER,
        learning_starts=WARM_UP,
        batch_size=BATCH,
        train_freq=1,
        gradient_steps=UPDATES,
        target_update_interval=TARGET,
        exploration_initial_eps=EXPLORATION,
        exploration_final_eps=EXPLORATION,
        max_grad_norm=math.inf,
        policy_kwargs={"net_arch": list(HIDDEN), "activation_fn": torch.nn.Tanh},
        seed=seed,
        device="cpu",
    )
    elsewhere = Monitor(gymnasium.make(env))
    returns = []
    for _ in range(STEPS // EVERY):
        model.learn(EVERY, reset_num_timesteps=False)
        returns.append(evaluate_policy(model, elsewhere, EPISODES)[0])
    return np.array(returns)[None]


def store(path: Path, returns: np.ndarray, first_seed: int) -> None:
    """One row per seed and evaluation."""
    seeds, evaluations = returns.shape
    table = pa.table(
        {
            "seed": np.repeat(np.arange(first_seed, first_seed + seeds), evaluations),
            "step": np.tile(EVERY * np.arange(1, evaluations + 1), seeds),
            "return": returns.astype(np.float32).ravel(),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def jobs() -> list[str]:
    """The file names: one for all of our seeds, one per seed of Stable-Baselines3."""
    names = [f"{env}-freqdyna" for env in ENVIRONMENTS]
    return names + [f"{env}-sb3-{seed}" for env in ENVIRONMENTS for seed in range(SEEDS)]


def compute(name: str, out: Path) -> None:
    """Compute one file."""
    env, kind, *seed = name.replace("-v1-", "-v1 ").replace("sb3-", "sb3 ").split(" ")
    returns = stable_baselines3(env, int(seed[0])) if seed else ours(env)
    store(out / f"{name}.parquet", returns, int(seed[0]) if seed else 0)
    print(f"{env}, {kind}: {returns[:, -1].mean():.0f} at the end", flush=True)


def read(out: Path, pattern: str) -> np.ndarray:
    """The returns of all files of a kind, shape (seeds, evaluations)."""
    tables = [pq.read_table(path) for path in sorted(out.glob(pattern))]
    return np.concatenate([t["return"].to_numpy() for t in tables]).reshape(-1, STEPS // EVERY)


def table(out: Path) -> str:
    """Mean return after the warm-up and over the last fifth, ± standard deviation over seeds."""
    rows = ["| environment | | mean return | last 6,000 steps |", "|---|---|---|---|"]
    for env in ENVIRONMENTS:
        for label, kind in (("freqdyna `er`", "freqdyna"), ("Stable-Baselines3 DQN", "sb3-*")):
            returns = read(out, f"{env}-{kind}.parquet")
            whole, last = returns[:, 1:].mean(axis=1), returns[:, -6:].mean(axis=1)
            cells = [f"{v.mean():.0f} ± {v.std(ddof=1):.0f}" for v in (whole, last)]
            rows.append(f"| {env} | {label} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--job")
    options = parser.parse_args()
    if options.job:
        compute(options.job, options.out)
        sys.exit()
    waiting = [name for name in jobs() if not (options.out / f"{name}.parquet").is_file()]
    print(f"{len(waiting)} trainings, about {3 * len(waiting) / options.processes:.0f} minutes")
    running: list[subprocess.Popen[bytes]] = []
    while waiting or running:
        while waiting and len(running) < options.processes:
            command = [sys.executable, __file__, str(options.out), "--job", waiting.pop(0)]
            running.append(subprocess.Popen(command))
        done, _ = running[0].wait(), running.pop(0)
        if done:
            sys.exit(done)
    print(table(options.out))
