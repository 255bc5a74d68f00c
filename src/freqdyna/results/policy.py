"""The greedy policies of trained agents, in Python and as plain arrays for use without JAX.

The arrays of an exported policy, which `examples/numpy_policy.py` reads:

weights_0, biases_0, ...    the layers of the network; its outputs are outputs_i = inputs @ W + b
activation                  the name of the activation between the layers
layer_norm                  whether its inputs are normalised: mean 0, variance 1 (plus 1e-5)
first_action                discrete actions: the action of the first output
action_low, action_high     continuous actions: the bounds of the action tanh(outputs)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsInt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents import algorithms
from freqdyna.agents.networks import Network
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, shortened
from freqdyna.envs.base import Environment, Policy
from freqdyna.envs.names import environment_of_run, space_of_run
from freqdyna.envs.space import Action, Factory, Space
from freqdyna.results.folder import write_output
from freqdyna.results.record import Record


def greedy_policy(config: Config, space: Space, parameters: np.ndarray) -> Policy:
    """The policy of a trained seed with parameters of shape (p,), without exploration."""
    learner, flat = algorithms.make_learner(config, space), jnp.asarray(parameters)

    def best(observation: Float[Array, " n"], key: PRNGKeyArray) -> Action:
        return learner.act(flat, observation, 0.0, key)

    return best


def environment_of_result(result: Record, env: Any) -> tuple[Environment | Factory, Space]:
    """The environment of a run, which is `env` if it is passed, and its space.

    It must have the space that the run was trained in, as far as that is known.
    """
    passed = result.environment if env is None else env
    played = environment_of_run(result.config, passed, result.provenance)
    space = space_of_run(played, result.config)
    ours, theirs = space_text(space), result.provenance.get("space")
    if theirs not in (None, ours):
        raise FreqdynaError(
            f"env has the {shortened(ours)[1:-1]}; it must have those of the run, "
            f"{shortened(theirs)[1:-1]}"
        )
    return played, space


def space_text(space: Space) -> str:
    """The bounds of states and actions, by which a run knows whether its policy fits."""
    bounds = [(space.low, space.high), (space.action_low, space.action_high)]
    states, actions = (
        " × ".join(f"[{a:.6g}, {b:.6g}]" for a, b in zip(low, high, strict=True))
        for low, high in bounds
    )
    if space.num_actions:
        first = space.to_env_action(np.array(0))
        actions = f"{first} to {first + space.num_actions - 1}"
    return f"states {states}, actions {actions}"


def policy_of(result: Record, seed: SupportsInt, env: Any) -> Callable[[Any], Any]:
    """A function from observations of the environment to actions; see `Result.policy`."""
    _, space = environment_of_result(result, env)
    greedy = greedy_policy(result.config, space, result.seed_parameters(seed))
    best, best_of_each = jax.jit(greedy), jax.jit(jax.vmap(greedy, in_axes=(0, None)))
    ties, size = jax.random.key(0), space.observation_size

    def act(observation: Any) -> Any:
        shape = np.shape(observation)
        if len(shape) not in (1, 2) or shape[-1] != size:
            raise FreqdynaError(
                f"observation has shape {shape}; it must be ({size},) or (batch, {size})"
            )
        state = np.asarray(observation, np.float32)
        if state.ndim == 1:
            return space.to_env_action(np.asarray(best(state, ties)))
        return np.array([space.to_env_action(a) for a in np.asarray(best_of_each(state, ties))])

    return act


def export_policy(record: Record, network: Network, path: Path, env: Any) -> None:
    """Write the greedy policy of a network; see `Result.export_policy`."""
    if path.suffix != ".npz":
        raise FreqdynaError(f"path is {str(path)!r}; it must end in .npz")
    _, space = environment_of_result(record, env)
    network = algorithms.make_learner(record.config, space).policy_network(network)
    names = "activation", "layer_norm"
    arrays = {name: np.array(record.config[f"learner.{name}"]) for name in names}
    for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays |= {f"weights_{i}": np.asarray(weight), f"biases_{i}": np.asarray(bias)}
    if space.num_actions:
        arrays["first_action"] = np.array(space.to_env_action(np.array(0)))
    else:
        arrays |= {"action_low": space.action_low, "action_high": space.action_high}
    write_output(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]
