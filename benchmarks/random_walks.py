"""How often random actions find a goal within 5,000 steps, if they last up to so many steps.

`python benchmarks/random_walks.py` prints the share of 100 seeds, in some minutes on two cores. An
action lasts at least k steps with probability 1/k, as with `exploration_repeats`.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray

from freqdyna import envs

SEEDS, STEPS = 100, 5_000
LONGEST = (1, 3, 10, 30, 100)


def finds_goal(env: envs.Environment, longest: int, key: PRNGKeyArray) -> Bool[Array, ""]:
    """Whether an episode terminates within the steps."""

    def step(at: Any, nothing: None) -> tuple[Any, None]:
        state, key, action, left, episode_step, found = at
        key, length_key, action_key, env_key, reset_key = jax.random.split(key, 5)
        length = jnp.floor(1 / jax.random.uniform(length_key, minval=1e-6))
        begins = left == 0
        drawn = jax.random.randint(action_key, (), 0, env.num_actions)
        action = jnp.where(begins, drawn, action)
        left = jnp.where(begins, jnp.minimum(length, longest).astype(int), left) - 1
        state, _, terminal = env.transition(state, action, env_key)
        over = terminal | (episode_step + 1 >= env.episode_limit)
        state = jnp.where(over, env.reset(reset_key), state)
        left, episode_step = (jnp.where(over, 0, number) for number in (left, episode_step + 1))
        return (state, key, action, left, episode_step, found | terminal), None

    start_key, key = jax.random.split(key)
    start = (env.reset(start_key), key, 0, 0, 0, jnp.zeros((), bool))
    return jax.lax.scan(step, start, None, STEPS)[0][-1]


def main() -> None:
    """Print a line for each environment."""
    keys = jax.random.split(jax.random.key(0), SEEDS)
    for name in ("MountainCar-v0", "GridWorld", "PuddleWorld", "Acrobot-v1"):
        env = envs.make(name)
        shares = [
            float(jax.jit(jax.vmap(partial(finds_goal, env, longest)))(keys).mean())
            for longest in LONGEST
        ]
        texts = (f"{longest}: {share:.2f}" for longest, share in zip(LONGEST, shares, strict=True))
        print(name, *texts, flush=True)


if __name__ == "__main__":
    main()
