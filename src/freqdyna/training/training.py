"""Training as a pure function of a random key."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from freqdyna.agents.base import Agent, AgentState
from freqdyna.envs.base import Environment
from freqdyna.envs.episodes import evaluate
from freqdyna.results.record import evaluation_steps

Metrics = dict[str, Array]


class Training(eqx.Module):
    """How one seed is trained and evaluated; `jit` and `vmap` compose with every method."""

    agent: Agent[Any]
    eval_episodes: int = eqx.field(static=True)
    eval_exploration: float

    def init(self, key: PRNGKeyArray) -> AgentState:
        """The state of a seed before its first step.

        Training, evaluation and snapshots use separate streams of random numbers.
        """
        return self.agent.init(jax.random.fold_in(key, 0))

    def advance(self, state: AgentState, start: Int[Array, ""], stop: Int[Array, ""]) -> AgentState:
        """Take the steps start, ..., stop - 1, both of shape ()."""
        return jax.lax.fori_loop(start, stop, lambda t, s: self.agent.step(s, t), state)

    def evaluate(
        self, state: AgentState, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> tuple[AgentState, Metrics]:
        """Evaluate the current policy.

        Args:
            state: The state of the seed.
            key: The key of the seed.
            step: The number of steps taken so far, shape ().

        Returns:
            The state with its diagnostics reset, and the metrics by name, each a scalar.

        """
        eval_key = jax.random.fold_in(jax.random.fold_in(key, 1), step)

        def policy(observation: Array, act_key: PRNGKeyArray) -> Array:
            return self.agent.act(state, observation, self.eval_exploration, act_key)

        env = self.agent.env
        assert isinstance(env, Environment)
        metrics = evaluate(env, policy, self.eval_episodes, eval_key)
        metrics |= self.agent.metrics(state)
        state = eqx.tree_at(lambda s: s.diagnostics, state, state.diagnostics.reset())
        return state, metrics

    def snapshot(self, state: AgentState, key: PRNGKeyArray, step: Int[Array, ""]) -> Metrics:
        """The snapshot after `step` steps, by name; see `docs/metrics.md`."""
        key = jax.random.fold_in(jax.random.fold_in(key, 2), step)
        return self.agent.snapshot(state, step, key)

    def run(self, key: PRNGKeyArray, steps: int, eval_every: int) -> tuple[AgentState, Metrics]:
        """The whole training of one seed as one pure function of its key.

        Args:
            key: The key of the seed.
            steps: The number of environment steps.
            eval_every: Steps between evaluations.

        Returns:
            The last state, and the metrics by name, each of shape (evaluations,). They are not
            replaced by NaN if the seed diverged: see `diverged_at`.

        """

        def between_evaluations(state: AgentState, stop: Int[Array, ""]) -> Any:
            start = (stop - 1) // eval_every * eval_every
            return self.evaluate(self.advance(state, start, stop), key, stop)

        return jax.lax.scan(
            between_evaluations, self.init(key), jnp.asarray(evaluation_steps(steps, eval_every))
        )
