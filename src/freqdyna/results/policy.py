"""The policies of trained agents."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, SupportsInt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents import algorithms
from freqdyna.agents.tabular import QTable, TabularDyna
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.base import Policy
from freqdyna.envs.names import check_same_environment, environment_of_run, space_of_run
from freqdyna.envs.space import Action, Space
from freqdyna.results.record import Record


def greedy_policy(config: Config, space: Space, parameters: np.ndarray) -> Policy:
    """The policy of a trained seed, without exploration.

    The model and the search-control that it was trained with are not needed.

    Args:
        config: The settings of the run.
        space: The space of the environment.
        parameters: The parameters of the seed, shape (p,).

    """
    if algorithms.find(config.algorithm).tabular:
        agent = algorithms.build(config, space)
        assert isinstance(agent, TabularDyna)
        cells = agent.init_table().values.shape
        _check_size(parameters, cells[0] * cells[1])
        table = QTable(jnp.asarray(parameters).reshape(cells))

        def look_up(observation: Float[Array, " n"], key: PRNGKeyArray) -> Action:
            return table.act(agent.cell(observation), 0.0, key)

        return look_up
    learner = algorithms.make_learner(config, space)
    sizes = learner.sizes
    _check_size(parameters, sum((a + 1) * b for a, b in pairwise(sizes)))
    flat = jnp.asarray(parameters)

    def best(observation: Float[Array, " n"], key: PRNGKeyArray) -> Action:
        return learner.act(flat, observation, 0.0, key)

    return best


def space_of_result(result: Record, env: Any) -> Space:
    """The space of a run's environment.

    Args:
        result: The training.
        env: The environment, if it cannot be found by its name.

    """
    config, facts = result.config, result.provenance
    found = environment_of_run(config, env, facts, "pass it as env=...")
    space = space_of_run(found, config)
    check_same_environment(space, facts)
    return space


def policy_of(result: Record, seed: SupportsInt, env: Any) -> Callable[[Any], Any]:
    """A function from observations of the environment to the greedy actions for its `step`.

    It takes an observation of shape (n,), or a batch of shape (batch, n), for which it returns an
    array with one action in each row.

    Args:
        result: The training.
        seed: The seed.
        env: The environment, if it cannot be found by its name.

    """
    space = space_of_result(result, env)
    greedy = greedy_policy(result.config, space, result.seed_parameters(seed))
    best, best_of_each = jax.jit(greedy), jax.jit(jax.vmap(greedy, in_axes=(0, None)))
    ties, size = jax.random.key(0), space.observation_size

    def act(observation: Any) -> Any:
        shape = np.shape(observation)
        if len(shape) not in (1, 2) or shape[-1] != size:
            raise FreqdynaError(
                f"observation has shape {shape}; it must be ({size},) or (batch, {size})"
            )
        state = space.to_agent(observation)
        if state.ndim == 1:
            return space.to_env_action(np.asarray(best(state, ties)))
        return np.array([space.to_env_action(a) for a in np.asarray(best_of_each(state, ties))])

    return act


def _check_size(parameters: np.ndarray, needed: int) -> None:
    if len(parameters) != needed:
        raise FreqdynaError(
            f"a seed has {len(parameters):,} parameters; its environment and settings need "
            f"{needed:,}"
        )
