"""Evaluation: how well the current policy does, on episodes and keys of its own."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action

Policy = Callable[[Float[Array, " n"], PRNGKeyArray], Action]


class Episode(eqx.Module):
    """An evaluation episode: under way, or, once over, its outcome."""

    state: Float[Array, " n"]
    total: Float[Array, ""]
    """Sum of rewards, undiscounted."""
    length: Int[Array, ""]
    terminal: Bool[Array, ""]


def start_episode(env: Environment, key: PRNGKeyArray) -> Episode:
    """The episode of `key` before its first step."""
    reset_key, _ = jax.random.split(key)
    return Episode(env.reset(reset_key), jnp.zeros(()), jnp.zeros((), int), jnp.zeros((), bool))


def advance_episode(
    env: Environment, policy: Policy, key: PRNGKeyArray, episode: Episode
) -> Episode:
    """One step further in the episode of `key`."""
    _, step_key = jax.random.split(key)
    act_key, env_key = jax.random.split(jax.random.fold_in(step_key, episode.length))
    action = policy(episode.state, act_key)
    state, reward, terminal = env.transition(episode.state, action, env_key)
    return Episode(state, episode.total + reward, episode.length + 1, terminal)


def run_episode(env: Environment, policy: Policy, key: PRNGKeyArray) -> Episode:
    """One episode, cut at the environment's limit."""

    def unfinished(episode: Episode) -> Bool[Array, ""]:
        return ~episode.terminal & (episode.length < env.episode_limit)

    def advance(episode: Episode) -> Episode:
        return advance_episode(env, policy, key, episode)

    return jax.lax.while_loop(unfinished, advance, start_episode(env, key))


def evaluate(
    env: Environment, policy: Policy, episodes: int, key: PRNGKeyArray
) -> dict[str, Float[Array, ""]]:
    """Means over `episodes` evaluation episodes."""
    keys = jax.random.split(key, episodes)
    outcome = jax.vmap(lambda k: run_episode(env, policy, k))(keys)
    return {
        "return": outcome.total.mean(),
        "length": outcome.length.astype(float).mean(),
        "terminated": outcome.terminal.astype(float).mean(),
    }
