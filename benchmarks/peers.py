"""The same workloads in other libraries: Stable-Baselines3, plain PyTorch and rejax.

Each measures environment steps per second in the steady state, on MountainCar, with a 32×32 tanh
network, mini-batches of 32 and d updates per step.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import plain_torch
from rates import Rate, rate_of

REPEATS = 3


def _rates(step: Callable[[], None], steps: int, repeats: int = REPEATS) -> list[float]:
    rates = []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(steps):
            step()
        rates.append(steps / (time.perf_counter() - began))
    return rates


def torch_er(updates: int = 10) -> Rate:
    """Plain PyTorch, ER, one seed on one thread."""
    agent = plain_torch.PlainAgent(dyna=False, planning_steps=updates)
    _rates(agent.step, 50, 1)
    return rate_of(f"ER, d = {updates}", "plain PyTorch", 1, _rates(agent.step, 60), 0.0)


def torch_dyna(updates: int = 10) -> Rate:
    """Plain PyTorch, Dyna-Frequency, one seed on one thread."""
    agent = plain_torch.PlainAgent(dyna=True, planning_steps=updates)
    _rates(agent.step, 30, 1)
    name = f"Dyna-Frequency, d = {updates}"
    return rate_of(name, "plain PyTorch", 1, _rates(agent.step, 30), 0.0)


def stable_baselines3(updates: int = 10) -> Rate:
    """Stable-Baselines3's DQN, one seed on one thread."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        "MountainCar-v0",
        learning_starts=50,
        buffer_size=100_000,
        batch_size=32,
        train_freq=1,
        gradient_steps=updates,
        target_update_interval=100,
        policy_kwargs={"net_arch": [32, 32], "activation_fn": torch.nn.Tanh},
        device="cpu",
    )
    model.learn(150)
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        model.learn(100, reset_num_timesteps=False)
        rates.append(100 / (time.perf_counter() - began))
    return rate_of(f"ER, d = {updates}", "Stable-Baselines3", 1, rates, 0.0)


def rejax_dqn(seeds: int, updates: int = 10, steps: int = 256, as_shipped: bool = True) -> Rate:
    """The DQN of rejax, with `vmap` over seeds: as released, or with a sampler of constant cost.

    The released sampler draws without replacement; its cost is linear in the size of the buffer.
    """
    from flax import linen
    from rejax import get_algo
    from rejax.buffers import ReplayBuffer
    from rejax.networks import DiscreteQNetwork, EpsilonGreedyPolicy

    agent = EpsilonGreedyPolicy(DiscreteQNetwork)(
        hidden_layer_sizes=(32, 32), action_dim=3, activation=linen.tanh
    )
    algorithm = get_algo("dqn").create(
        env="MountainCar-v0",
        total_timesteps=steps,
        eval_freq=steps,
        skip_initial_evaluation=True,
        num_envs=1,
        num_epochs=updates,
        batch_size=32,
        buffer_size=100_000,
        fill_buffer=64,
    )
    algorithm = algorithm.replace(agent=agent, eval_callback=lambda *_: ())
    shipped = ReplayBuffer.sample
    if not as_shipped:
        ReplayBuffer.sample = _sample_with_replacement
    train = jax.jit(jax.vmap(algorithm.train))
    keys = jax.random.split(jax.random.key(0), seeds)
    began = time.perf_counter()
    jax.block_until_ready(train(keys))
    first = time.perf_counter() - began
    ReplayBuffer.sample = shipped
    times = []
    for _ in range(2):
        began = time.perf_counter()
        jax.block_until_ready(train(keys))
        times.append(time.perf_counter() - began)
    rates = [seeds * (steps - 64) / seconds for seconds in times]
    name, compile_seconds = f"ER, d = {updates}", first - min(times)
    kind = "rejax, as shipped" if as_shipped else "rejax, sampler replaced"
    return rate_of(name, kind, seeds, rates, compile_seconds)


def _sample_with_replacement(buffer: Any, num: int, rng: jax.Array) -> Any:
    indices = jax.random.randint(rng, (num,), 0, buffer.num_entries)
    return jax.tree.map(lambda rows: rows[indices], buffer.data)


def all_peers() -> list[Callable[[], Rate]]:
    """All measurements, the fastest first."""
    return [
        torch_er,
        torch_dyna,
        lambda: torch_dyna(30),
        stable_baselines3,
        lambda: rejax_dqn(1),
        lambda: rejax_dqn(30, steps=96),
        lambda: rejax_dqn(1, steps=2_000, as_shipped=False),
        lambda: rejax_dqn(30, steps=2_000, as_shipped=False),
    ]
