"""Environments stepped in Python: ER beside Stable-Baselines3, and the cost of continuous actions.

`python benchmarks/host.py` prints environment steps per second, summed over all seeds, with one
update per step on CartPole-v1; with `--mujoco` also milliseconds per step of 10 seeds on MuJoCo
tasks with five updates per step. Measurements start at step 300.
"""

import statistics
import sys
import time
from collections.abc import Callable

import gymnasium
import jax

from freqdyna.agents.presets import PAPERS_LEARNER
from freqdyna.config import Config
from freqdyna.training.api import prepare

REPEATS = 3
BEGIN = 300
"""Steps before the measurement starts."""


def ours(config: Config, make: Callable[[], gymnasium.Env] | None, steps: int) -> float:
    """Seconds per step of all seeds, the median of the repeats."""
    block = prepare(config, make).block
    state = block.advance(block.init(), 0, BEGIN)
    times = []
    for turn in range(REPEATS):
        first = BEGIN + turn * steps
        began = time.perf_counter()
        state = jax.block_until_ready(block.advance(state, first, first + steps))
        times.append((time.perf_counter() - began) / steps)
    return statistics.median(times)


def cart_pole(seeds: int, steps: int = 2_000) -> float:
    """Environment steps per second of ER."""
    config = Config.of(
        {
            "env": "CartPole-v1",
            "algorithm": "er",
            "seeds": seeds,
            "steps": 100_000,
            "planning_steps": 1,
            "warmup_steps": 100,
            "scale_observations": False,
            **PAPERS_LEARNER,
            "replay.prioritized_share": 0.0,
            "learner.hidden": (64, 64),
        }
    )
    return seeds / ours(config, lambda: gymnasium.make("CartPole-v1"), steps)


def stable_baselines3(steps: int = 2_000) -> float:
    """Environment steps per second of Stable-Baselines3's DQN, on one thread."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_starts=100,
        train_freq=1,
        gradient_steps=1,
        batch_size=32,
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.Tanh},
        device="cpu",
    )
    model.learn(BEGIN)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        model.learn(steps, reset_num_timesteps=False)
        times.append((time.perf_counter() - began) / steps)
    return 1 / statistics.median(times)


def continuous(env: str, algorithm: str) -> float:
    """Milliseconds per step of 10 seeds."""
    config = Config.of(
        {
            "env": env,
            "algorithm": algorithm,
            "seeds": 10,
            "steps": 100_000,
            "warmup_steps": 100,
            "planning_steps": 5,
        }
    )
    return 1e3 * ours(config, None, 100)


if __name__ == "__main__":
    print("CartPole-v1, one update per step, environment steps per second:", flush=True)
    peer = stable_baselines3()
    print(f"  Stable-Baselines3, 1 seed: {peer:,.0f}", flush=True)
    for seeds in (1, 10):
        rate = cart_pole(seeds)
        print(f"  freqdyna, {seeds} seeds: {rate:,.0f} ({rate / peer:.1f} ×)", flush=True)
    if "--mujoco" in sys.argv:
        print("10 seeds, 5 updates per step, milliseconds per step of all seeds:", flush=True)
        for env in ("Hopper-v5", "Walker2d-v5"):
            for algorithm in ("er", "dyna", "naf", "dyna-naf-value", "dyna-naf-frequency"):
                print(f"  {algorithm} on {env}: {continuous(env, algorithm):.1f}", flush=True)
