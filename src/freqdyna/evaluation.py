"""Evaluation: how well the current policy does, on episodes and keys of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.envs.base import Environment
from freqdyna.learners.dqn import DQN


class Episode(eqx.Module):
    """An evaluation episode: under way, or, once over, its outcome."""

    state: Float[Array, " n"]
    total: Float[Array, ""]
    """Sum of rewards, undiscounted."""
    length: Int[Array, ""]
    terminal: Bool[Array, ""]


def run_episode(
    env: Environment,
    learner: DQN,
    params: Float[Array, " p"],
    epsilon: float,
    key: PRNGKeyArray,
) -> Episode:
    """One episode of the epsilon-greedy policy, cut at the environment's limit."""
    reset_key, step_key = jax.random.split(key)

    def unfinished(episode: Episode) -> Bool[Array, ""]:
        return ~episode.terminal & (episode.length < env.episode_limit)

    def advance(episode: Episode) -> Episode:
        act_key, env_key = jax.random.split(jax.random.fold_in(step_key, episode.length))
        action = learner.act(params, episode.state, epsilon, act_key)
        state, reward, terminal = env.transition(episode.state, action, env_key)
        return Episode(state, episode.total + reward, episode.length + 1, terminal)

    start = Episode(env.reset(reset_key), jnp.zeros(()), jnp.zeros((), int), jnp.zeros((), bool))
    return jax.lax.while_loop(unfinished, advance, start)


def evaluate(
    env: Environment,
    learner: DQN,
    params: Float[Array, " p"],
    epsilon: float,
    episodes: int,
    key: PRNGKeyArray,
) -> dict[str, Float[Array, ""]]:
    """Means over `episodes` evaluation episodes."""
    keys = jax.random.split(key, episodes)
    outcome = jax.vmap(lambda k: run_episode(env, learner, params, epsilon, k))(keys)
    return {
        "return": outcome.total.mean(),
        "length": outcome.length.astype(float).mean(),
        "terminated": outcome.terminal.astype(float).mean(),
    }
