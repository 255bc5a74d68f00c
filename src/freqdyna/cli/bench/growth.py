"""How the cost of a step grows: with seeds, planning updates, m, state dimension and width."""

from collections.abc import Iterator
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna import envs
from freqdyna.cli.bench.rates import Rate, measure_config, workload_config
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal

BASE = "Dyna-Frequency, d = 10"
SEEDS = 8
"""The number of seeds in all measurements that do not vary it."""

GROWTH: dict[str, tuple[int, ...]] = {
    "planning_steps": (1, 10, 30),
    "search_states": (5, 20, 50),
    "state_dimension": (2, 3, 4, 8, 11, 17),
    "hidden": (16, 32, 64, 128),
}
SEEDS_ON_CPU = (1, 2, 8, 30, 100)
SEEDS_ON_ACCELERATOR = (1, 10, 30, 100, 300, 600, 1000)


def measure_growth() -> Iterator[tuple[str, int, Rate]]:
    """Measure the rate of BASE with one setting varied at a time.

    Yields:
        The name of the setting, its value, and the rate.

    """
    on_cpu = jax.default_backend() == "cpu"
    for seeds in SEEDS_ON_CPU if on_cpu else SEEDS_ON_ACCELERATOR:
        config = workload_config(BASE, seeds)
        yield "seeds", seeds, measure_config(BASE, config, envs.make(config.env), 1.0)
    for name, values in GROWTH.items():
        for value in values:
            changes: dict[str, Any] = {name: (value, value) if name == "hidden" else value}
            env = envs.make("MountainCar-v0")
            if name == "state_dimension":
                changes, env = {}, _box(value)
            yield name, value, measure_config(BASE, workload_config(BASE, SEEDS, **changes), env, 1)


class _Box(Environment):
    """A walk in a box of any dimension, for measuring speed only."""

    summary: ClassVar[str] = "a walk in a box"
    num_actions: ClassVar[int] = 3
    reward_noise: float = eqx.field(default=0.0, static=True)
    episode_limit: int = eqx.field(default=2000, static=True)

    def reset(self, key: PRNGKeyArray) -> State:
        return jax.random.uniform(key, (self.observation_size,), minval=-0.5, maxval=0.5)

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        # Each coordinate is moved by the previous one, so that all of them move.
        pull = jnp.cos(7 * jnp.roll(state, 1)) + action - 1
        return jnp.clip(state + 0.02 * pull, self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        return state[0] > 0.99

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        return -jnp.ones(())


def _box(n: int) -> Environment:
    bounds = {"name": f"box-{n}", "low": -np.ones(n, np.float32), "high": np.ones(n, np.float32)}
    box: Environment = type(f"_Box{n}", (_Box,), bounds)()
    return box
