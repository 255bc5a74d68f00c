"""Evaluation of the current policy, on separate episodes with separate random keys."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action

Policy = Callable[[Float[Array, " n"], PRNGKeyArray], Action]


class Episode(eqx.Module):
    """An evaluation episode, in progress or finished."""

    state: Float[Array, " n"]
    total: Float[Array, ""]
    """Sum of rewards, undiscounted."""
    length: Int[Array, ""]
    terminal: Bool[Array, ""]


def start_episode(env: Environment, key: PRNGKeyArray) -> Episode:
    """The episode that `key` determines, before its first step."""
    reset_key, _ = jax.random.split(key)
    return Episode(env.reset(reset_key), jnp.zeros(()), jnp.zeros((), int), jnp.zeros((), bool))


def advance_episode(
    env: Environment, policy: Policy, key: PRNGKeyArray, episode: Episode
) -> Episode:
    """Take one step in an episode.

    Args:
        env: The environment.
        policy: From a state of shape (n,) and a random key to an action.
        key: The random key with which the episode was started.
        episode: The episode so far.

    """
    _, step_key = jax.random.split(key)
    act_key, env_key = jax.random.split(jax.random.fold_in(step_key, episode.length))
    action = policy(episode.state, act_key)
    state, reward, terminal = env.transition(episode.state, action, env_key)
    return Episode(state, episode.total + reward, episode.length + 1, terminal)


def run_episode(env: Environment, policy: Policy, key: PRNGKeyArray) -> Episode:
    """One episode, truncated at the environment's limit; see `advance_episode`."""

    def unfinished(episode: Episode) -> Bool[Array, ""]:
        return ~episode.terminal & (episode.length < env.episode_limit)

    def advance(episode: Episode) -> Episode:
        return advance_episode(env, policy, key, episode)

    return jax.lax.while_loop(unfinished, advance, start_episode(env, key))


def evaluate(
    env: Environment, policy: Policy, episodes: int, key: PRNGKeyArray
) -> dict[str, Float[Array, ""]]:
    """Evaluate a policy.

    Args:
        env: The environment.
        policy: From a state of shape (n,) and a random key to an action.
        episodes: The number of episodes.
        key: A random key.

    Returns:
        The means of "return", "length" and "terminated" over the episodes.

    """
    keys = jax.random.split(key, episodes)
    outcome = jax.vmap(lambda k: run_episode(env, policy, k))(keys)
    return {
        "return": outcome.total.mean(),
        "length": outcome.length.astype(float).mean(),
        "terminated": outcome.terminal.astype(float).mean(),
    }
