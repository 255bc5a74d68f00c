"""Training in Gymnasium environments: they are stepped in Python, everything else is compiled.

A step is a call of a compiled function for all seeds: it takes the outcomes of the last actions and
returns the next actions. So only observations, rewards and actions are transferred between Python
and the device. If the learner does not act with its newest network, the next actions are computed
before the updates of a step, and the environments are stepped during the updates.
"""

import time
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.agents.dyna.diagnostics import NEVER
from freqdyna.agents.dyna.state import DynaState, Experience
from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.envs.gym import (
    EVALUATION,
    ClosingFactory,
    EnvironmentFailed,
    Failure,
    HostAction,
    HostEnvs,
    HostSpace,
    Slot,
    doubts,
    make_env,
)
from freqdyna.training.seeds import Block, Layout, Metrics, Training

TRIED_STEPS = 200
"""How many steps are taken to see whether an environment can be trained on."""
MOST_TRIED_STEPS, TRIED_SECONDS = 600, 5.0
"""More are taken until three episodes have ended, because their ends may show a mistake."""


class HostBlock(Block):
    """A block of seeds, each with one environment for training and one for evaluation."""

    def __init__(
        self, training: Training, layout: Layout, factory: ClosingFactory, seeds: np.ndarray
    ) -> None:
        super().__init__(training, layout)
        agent = training.agent
        assert isinstance(agent.env, HostSpace)
        self.space, self.seeds, self._factory = agent.env, seeds, factory
        self.envs = HostEnvs(factory, self.space, seeds)
        self.eval_slots = [Slot(make_env(factory), self.space, int(s), EVALUATION) for s in seeds]

        def observe(state: DynaState, action: Any, row: Any, t: Any) -> DynaState:
            return agent.observe(state, t, action, _unpacked(row))

        def observe_and_choose(state: DynaState, action: Any, row: Any, t: Any) -> Any:
            state = observe(state, action, row, t)
            return state, agent.choose(state, t + 1)

        def choose_before_updates(state: DynaState, row: Any, t: Any) -> Any:
            return agent.choose(replace(state, observation=_unpacked(row).observation), t + 1)

        def act(parameters: Any, observation: Any, key: Any, step: Any, i: Any) -> Any:
            key = jax.random.fold_in(jax.random.fold_in(jax.random.fold_in(key, 1), step), i)
            return agent.learner.act(parameters, observation, training.eval_exploration, key)

        def measure(state: DynaState) -> tuple[DynaState, Metrics]:
            reset = state.diagnostics.reset()
            return replace(state, diagnostics=reset), agent.metrics(state)

        self._choose = self.compiled(agent.choose, 1, 1)
        self._observe = self.compiled(observe, 3, 1, donate=True)
        self._observe_and_choose = self.compiled(observe_and_choose, 3, 1, donate=True)
        self._choose_before_updates = self.compiled(choose_before_updates, 2, 1)
        # On one device: the network is small, and a call for several takes three times as long.
        self._one_device = Layout.of(seeds, list(layout.mesh.devices.flat[:1]))
        self._act = jax.jit(self._one_device.over_seeds(act, 3, 2))
        self._measure = self.compiled(measure, 1, 0, donate=True)
        flat, actions = jax.eval_shape(
            lambda key: (
                agent.parameters(agent.init(key)),
                agent.choose(agent.init(key), jnp.int32(0)),
            ),
            jax.random.key(0),
        )
        self._last = np.zeros((len(seeds), *flat.shape), flat.dtype)
        """The last parameters of the seeds that stopped."""
        self._action = np.zeros((len(seeds), *actions.shape), actions.dtype)
        """The next actions of a learner that acts before updates."""
        self._has_results = False

    def init(self) -> DynaState:
        """The states before the first step, each at the start of its first episode."""
        state, starts = super().init(), self.envs.begin()
        self._report_stopped(set(), state)
        return self._at(state, starts)

    def advance(self, state: DynaState, start: int, stop: int) -> DynaState:
        """One or two compiled calls per step; does nothing if all seeds have stopped."""
        early = self.training.agent.learner.acts_before_updates
        action = self._filled(self._action)
        if start == 0 or not early:
            action = self._choose(state, jnp.int32(start))
        for t in range(start, stop):
            failed = set(self.envs.failures)
            if len(failed) == len(self.seeds):
                break
            outcome = self.envs.step(np.asarray(action), t)
            self._report_stopped(failed, state)
            rows, count = self._filled(_packed(outcome)), np.int32(t)
            if early:
                taken, action = action, self._choose_before_updates(state, rows, count)
                state = self._observe(state, taken, rows, count)
            else:
                state, action = self._observe_and_choose(state, action, rows, count)
        self._action = np.asarray(action)[: len(self.seeds)]
        return state

    def evaluate(self, state: DynaState, step: int) -> tuple[DynaState, Metrics]:
        """The means over evaluation episodes; NaN for a seed that stopped.

        Its agent is still computed together with the others, but the result is ignored.
        """
        episodes, count = self.training.eval_episodes, len(self.seeds)
        sums = np.zeros((3, count))
        failed = set(self.envs.failures)
        parameters = self._one_device.placed(super().parameters(state))
        for episode in range(episodes):
            sums += self._episode(parameters, step, episode)
        self._report_stopped(failed, state)
        state, metrics = self._measure(state)
        totals, lengths, terminated = jnp.asarray(sums / episodes, jnp.float32)
        means = {"return": totals, "length": lengths, "terminated": terminated}
        metrics["diverged_at"] = self._before_the_end(metrics["diverged_at"])
        self._has_results |= len(self.envs.failures) < count
        return state, self._without_ended(means | metrics)

    def snapshot(self, state: DynaState, step: int) -> Metrics:
        """The snapshot, with NaN for the seeds that stopped."""
        return self._without_ended(super().snapshot(state, step))

    def parameters(self, state: DynaState) -> np.ndarray:
        """The parameters of each seed, shape (seeds, p); of stopped seeds, the last ones."""
        learned = np.array(super().parameters(state))
        ended = list(self.envs.failures)
        learned[ended] = self._last[ended]
        return learned

    def to_checkpoint(self, state: DynaState) -> Any:
        """The agents, and what is needed to replay the current episodes."""
        return {
            "agent": super().to_checkpoint(state),
            "host": self.envs.memory(),
            "last": self._last,
            "action": self._action,
        }

    def state_structure(self) -> Any:
        """The shapes of what `to_checkpoint` returns."""
        others = {"host": self.envs.memory(), "last": self._last, "action": self._action}
        return {"agent": super().state_structure()} | others

    def from_checkpoint(self, saved: Any, facts: dict[str, Any]) -> DynaState:
        """Replay the current episodes; start a new one if an environment is not deterministic."""
        ended = facts.get("ended", {})
        failures = {
            int(np.flatnonzero(self.seeds == int(seed))[0]): Failure(fact["step"], fact["reason"])
            for seed, fact in ended.items()
        }
        reached = self.envs.restore(saved["host"], failures)
        state = super().from_checkpoint(saved["agent"], facts)
        self._last, self._has_results = np.array(saved["last"]), True
        self._action = np.array(saved["action"])
        self._report_stopped(set(failures), state)
        stored = np.asarray(saved["agent"].observation)
        for row, seed in enumerate(self.seeds):
            if row in self.envs.failures or np.array_equal(reached[row], stored[row]):
                continue
            reached[row] = self.envs.restart_episode(row, 0)
            self.messages.append(
                f"seed {seed}: {self.space.name} is not deterministic; its episode is restarted"
            )
        return self._at(state, reached)

    def facts(self) -> dict[str, Any]:
        """The seeds that stopped early, and why."""
        if not self.envs.failures:
            return {}
        ended = {
            str(self.seeds[row]): {"step": failure.step, "reason": failure.reason}
            for row, failure in sorted(self.envs.failures.items())
        }
        return {"ended": ended}

    def _episode(self, parameters: jax.Array, step: int, number: int) -> np.ndarray:
        """One evaluation episode of every seed: returns, lengths, whether terminated."""
        count, limit = len(self.seeds), self.space.episode_limit
        observations = np.zeros((count, self.space.observation_size), np.float32)
        outcome, active = np.zeros((3, count)), set(range(count)) - set(self.envs.failures)

        def attempt(row: int, action: HostAction | None) -> None:
            """Start an episode if `action` is None, or take a step; a failure stops the seed."""
            slot = self.eval_slots[row]
            try:
                if action is None:
                    observations[row] = slot.begin(step * self.training.eval_episodes + number)
                    return
                observations[row], reward, terminal, over = slot.step(action)
            except EnvironmentFailed as error:
                self.envs.failures[row] = Failure(step, f"in evaluation, {error}", error.raised)
                active.discard(row)
                return
            outcome[:, row] += (reward, 1, terminal)
            if over:
                active.discard(row)

        for row in sorted(active):
            attempt(row, None)
        for i in range(limit):
            if not active:
                break
            where = np.int32(step), np.int32(number * limit + i)
            chosen = np.asarray(self._act(parameters, observations, self._one_device.keys, *where))
            for row in sorted(active):
                attempt(row, chosen[row])
        return outcome

    def trace(self) -> None:
        """Trace the agent, and take random actions; what looks wrong becomes a message."""
        agent, key = self.training.agent, jax.random.key(0)
        state = jax.eval_shape(agent.dry_step, key)
        jax.eval_shape(self.training.snapshot, state, key, 1)
        states, outcomes = [self.envs.begin()], []
        self._require_seeds()
        if not np.array_equal(self.envs.begin(), states[0]):
            self.messages.append("two resets with one seed differ; use self.np_random in reset")
        generator, space = np.random.default_rng(0), self.space
        sizes = len(self.seeds), len(space.action_low)
        began, episodes = time.monotonic(), 0
        for t in range(MOST_TRIED_STEPS):
            actions = (
                generator.integers(space.num_actions, size=len(self.seeds))
                if space.num_actions
                else generator.uniform(space.action_low, space.action_high, sizes)
            )
            outcomes.append(self.envs.step(actions, t))
            self._require_seeds()
            states.append(outcomes[-1]["next_state"])
            episodes += outcomes[-1]["over"].sum()
            is_late = time.monotonic() - began > TRIED_SECONDS
            if t + 1 >= TRIED_STEPS and (episodes >= 3 or is_late):
                break
        names = "reward", "terminal", "over"
        returned = (np.concatenate([one[name] for one in outcomes]) for name in names)
        self.messages += doubts(space, np.concatenate(states), *returned)

    def close(self) -> None:
        """Close all environments, including that of the model."""
        self._factory.close()

    def _report_stopped(self, known: set[int], state: DynaState) -> None:
        """Report the seeds that stopped since then, and keep their parameters."""
        ended = sorted(set(self.envs.failures) - known)
        if ended:
            self._last[ended] = super().parameters(state)[ended]
        left = len(self.seeds) - len(self.envs.failures)
        for row in ended:
            failure = self.envs.failures[row]
            self.messages.append(
                f"seed {self.seeds[row]} stopped at step {failure.step:,}: {self.space.name}: "
                f"{failure.reason}; {left} of {counted(len(self.seeds), 'seed')} continue"
            )
        self._require_seeds()

    def _require_seeds(self) -> None:
        """Raise the error of the environment if no seed is left and there are no results."""
        if len(self.envs.failures) < len(self.seeds) or self._has_results:
            return
        first = next(iter(self.envs.failures.values()))
        sentence = f"{self.space.name} failed for every seed; the first: {first.reason}"
        if first.error is None:
            raise FreqdynaError(sentence)
        first.error.add_note(f"{sentence}; reset and step must work as in gymnasium.Env")
        raise first.error

    def _without_ended(self, metrics: Metrics) -> Metrics:
        """The metrics, with NaN for the seeds that stopped."""
        if not self.envs.failures:
            return metrics
        rows = jnp.array(list(self.envs.failures))
        return {
            name: v.at[rows].set(jnp.nan) if jnp.issubdtype(v.dtype, jnp.floating) else v
            for name, v in metrics.items()
        }

    def _before_the_end(self, diverged_at: Any) -> Any:
        """The steps at which seeds diverged, unless they had stopped before."""
        at = np.array(diverged_at)
        for row, failure in self.envs.failures.items():
            at[row] = at[row] if at[row] <= failure.step else NEVER
        return jnp.asarray(at)

    def _filled(self, rows: np.ndarray) -> np.ndarray:
        """The rows, with copies of the last one that pad the last device."""
        spare = self.layout.rows - len(rows)
        return np.concatenate([rows, np.repeat(rows[-1:], spare, axis=0)]) if spare else rows

    def _at(self, state: DynaState, observations: np.ndarray) -> DynaState:
        """The states with these observations."""
        placed = self.layout.placed(jnp.asarray(observations))
        return eqx.tree_at(lambda s: s.observation, state, placed)


def _packed(outcome: dict[str, np.ndarray]) -> np.ndarray:
    """One row per seed, so that there is one transfer to the device instead of five."""
    scalars = [outcome[name].astype(np.float32)[:, None] for name in ("reward", "terminal", "over")]
    return np.concatenate([*scalars, outcome["next_state"], outcome["observation"]], axis=1)


def _unpacked(row: Float[Array, " width"]) -> Experience:
    """The inverse of `_packed` for one row."""
    next_state, observation = jnp.split(row[3:], 2)
    return Experience(row[0], next_state, row[1] > 0, row[2] > 0, observation)
