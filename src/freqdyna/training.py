"""Training as a pure function of a key, and the same for a block of seeds on many devices."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int, PRNGKeyArray

from freqdyna.agent import Agent, AgentState
from freqdyna.envs.base import Environment
from freqdyna.evaluation import evaluate

Metrics = dict[str, Array]


class Training(eqx.Module):
    """How one seed is trained and evaluated; `jit` and `vmap` compose with every method."""

    agent: Agent[Any]
    eval_episodes: int = eqx.field(static=True)
    eval_exploration: float

    def init(self, key: PRNGKeyArray) -> AgentState:
        """The seed's state before its first step. Training and evaluation have their own keys."""
        return self.agent.init(jax.random.fold_in(key, 0))

    def advance(self, state: AgentState, start: Int[Array, ""], stop: Int[Array, ""]) -> AgentState:
        """Take the steps start, ..., stop - 1."""
        return jax.lax.fori_loop(start, stop, lambda t, s: self.agent.step(s, t), state)

    def evaluate(
        self, state: AgentState, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> tuple[AgentState, Metrics]:
        """The metrics after `step` steps, and the state with its sums since then set to zero."""
        eval_key = jax.random.fold_in(jax.random.fold_in(key, 1), step)

        def policy(observation: Array, act_key: PRNGKeyArray) -> Array:
            return self.agent.act(state, observation, self.eval_exploration, act_key)

        env = self.agent.env
        assert isinstance(env, Environment)
        metrics = evaluate(env, policy, self.eval_episodes, eval_key)
        metrics |= self.agent.metrics(state)
        state = eqx.tree_at(lambda s: s.diagnostics, state, state.diagnostics.since_now())
        return state, metrics

    def snapshot(self, state: AgentState, key: PRNGKeyArray, step: Int[Array, ""]) -> Metrics:
        """What is worth looking at after `step` steps; draws from a stream of its own."""
        key = jax.random.fold_in(jax.random.fold_in(key, 2), step)
        return self.agent.snapshot(state, step, key)

    def run(self, key: PRNGKeyArray, steps: int, eval_every: int) -> tuple[AgentState, Metrics]:
        """The whole training of one seed as one pure function of its key.

        Returns the last state and the metrics, each an array over evaluations.
        """

        def between_evaluations(state: AgentState, stop: Int[Array, ""]) -> Any:
            start = (stop - 1) // eval_every * eval_every
            return self.evaluate(self.advance(state, start, stop), key, stop)

        return jax.lax.scan(
            between_evaluations, self.init(key), jnp.asarray(evaluation_steps(steps, eval_every))
        )


def evaluation_steps(steps: int, eval_every: int) -> np.ndarray:
    """After which steps to evaluate: every `eval_every`, and at the end."""
    return np.unique(np.append(np.arange(eval_every, steps + 1, eval_every), steps))


@dataclass(frozen=True)
class Block:
    """The compiled training of a block of seeds, split over devices.

    Each device trains its own share and waits for no other. Where the seeds do not divide
    evenly, the last seed is trained more than once and its copies are dropped.
    """

    init: Callable[[], AgentState]
    advance: Callable[[AgentState, int, int], AgentState]
    """(states, start, stop) to states; the states given are used up."""
    evaluate: Callable[[AgentState, int], tuple[AgentState, Metrics]]
    """(states, step) to states and metrics, a row a seed; the states given are used up."""
    snapshot: Callable[[AgentState, int], Metrics]
    """(states, step) to arrays, a row a seed."""
    seeds: int
    rows: int
    """Seeds and the copies that fill up the last device."""
    sharding: NamedSharding


def compile_block(training: Training, seeds: np.ndarray, devices: list[jax.Device]) -> Block:
    """The compiled functions for `seeds` on `devices`; JAX compiles each at its first call."""
    rows = math.ceil(len(seeds) / len(devices)) * len(devices)
    filled = np.append(seeds, np.repeat(seeds[-1:], rows - len(seeds)))
    mesh = Mesh(np.array(devices), ("seeds",))
    by_seed, shared = PartitionSpec("seeds"), PartitionSpec()
    sharding = NamedSharding(mesh, by_seed)
    keys = jax.device_put(jax.vmap(jax.random.key)(jnp.asarray(filled)), sharding)

    def over_seeds(function: Callable[..., Any], batched: int, unbatched: int) -> Any:
        """`function` of one seed, for all: `batched` arguments a row a seed, the rest shared."""
        batch = jax.vmap(function, in_axes=(0,) * batched + (None,) * unbatched)
        return jax.shard_map(
            batch,
            mesh=mesh,
            in_specs=(by_seed,) * batched + (shared,) * unbatched,
            out_specs=by_seed,
            check_vma=False,
        )

    init = jax.jit(over_seeds(training.init, 1, 0))
    advance = jax.jit(over_seeds(training.advance, 1, 2), donate_argnums=0)
    evaluate_ = jax.jit(over_seeds(training.evaluate, 2, 1), donate_argnums=0)
    snapshot = jax.jit(over_seeds(training.snapshot, 2, 1))
    return Block(
        init=lambda: init(keys),
        advance=lambda state, start, stop: advance(state, jnp.int32(start), jnp.int32(stop)),
        evaluate=lambda state, step: evaluate_(state, keys, jnp.int32(step)),
        snapshot=lambda state, step: snapshot(state, keys, jnp.int32(step)),
        seeds=len(seeds),
        rows=rows,
        sharding=sharding,
    )
