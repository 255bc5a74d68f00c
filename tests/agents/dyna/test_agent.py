"""One step of the agent after the other: what is stored, searched and learned, and when."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock, agent_of

from freqdyna import envs
from freqdyna.agents.models import Model


@jax.jit
def start(dyna):
    return dyna.init(jax.random.key(0))


@jax.jit
def advance(dyna, state, begin, end):
    """The steps begin, ..., end - 1; one program for agents that differ only in numbers."""
    return jax.lax.fori_loop(begin, end, lambda t, s: dyna.step(s, t), state)


def run(dyna, steps):
    return advance(dyna, start(dyna), 0, steps)


def clock(last=1000):
    return Clock(episode_limit=5, last=last)


def test_stores_what_happened_and_a_cut_is_not_a_termination():
    state = run(agent_of(clock()), 12)
    rows = np.asarray(state.replay.rows)[:12]
    states, next_states, terminals = rows[:, 0], rows[:, 1], rows[:, -1]
    np.testing.assert_array_equal(states, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
    np.testing.assert_array_equal(next_states, states + 1)
    assert not terminals.any()
    assert state.diagnostics.updates == 2 * 12


def test_a_termination_is_stored_and_starts_a_new_episode():
    state = run(agent_of(clock(last=3)), 8)
    rows = np.asarray(state.replay.rows)[:8]
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 2, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1, 0, 0, 1, 0, 0])
    assert state.diagnostics.episodes == 2


def test_warm_up_actions_are_random_and_later_ones_mostly_greedy():
    settings = {"warmup_steps": 100, "scale_observations": False, "learner.learning_rate": 0.0}
    dyna = agent_of(clock(), **settings)
    actions = np.asarray(run(dyna, 200).replay.rows)[:200, 2]
    assert 25 < actions[:100].sum() < 75  # 5 standard deviations about 50
    values = jax.jit(lambda params: dyna.learner.network(params)(jnp.zeros(1)))
    greedy = np.argmax(values(start(dyna).learner.params))
    share = (actions[100:] == greedy).mean()
    assert share > 0.8  # expected 0.95 at exploration 0.1 with two actions


def test_updates_begin_with_the_first_step_or_after_the_warm_up():
    initial = np.asarray(start(agent_of(clock())).learner.params)
    at_once = run(agent_of(clock(), warmup_steps=50, learn_in_warmup=True), 50)
    assert (at_once.learner.params != initial).any()
    waits = agent_of(clock(), warmup_steps=50)
    before = run(waits, 50)
    np.testing.assert_array_equal(before.learner.params, initial)
    after = advance(waits, before, 50, 51)
    assert (after.learner.params != initial).any()
    assert after.diagnostics.updates == 2


def test_a_seed_whose_loss_is_not_finite_is_marked_with_its_step():
    dyna = agent_of(clock())
    state = run(dyna, 10)
    assert state.diagnostics.diverged_at == -1
    broken = eqx.tree_at(lambda s: s.learner.params, state, np.inf * np.sign(state.learner.params))
    broken = advance(dyna, broken, 10, 12)
    assert broken.diagnostics.diverged_at == 11
    assert np.isfinite(broken.observation).all()


def test_no_simulated_share_is_exactly_er():
    env = envs.make("MountainCar-v0")
    er = run(agent_of(env), 60)
    dyna = run(agent_of(env, "dyna-uniform", **{"planning.simulated_share": 0.0}), 60)
    np.testing.assert_array_equal(er.learner.params, dyna.learner.params)
    np.testing.assert_array_equal(er.replay.rows, dyna.replay.rows)
    assert dyna.queue.count > 0


@pytest.mark.parametrize(
    ("algorithm", "name", "beside"),
    [
        ("dyna-frequency", "MountainCar-v0", (0.45, 0.04)),
        ("dyna-uniform", "MazeGridWorld", (0.96, 0.9)),
    ],
)
def test_every_state_in_the_queue_is_valid_finite_and_not_terminal(algorithm, name, beside):
    env = envs.make(name)
    agent = agent_of(env, algorithm, **{"search_control.states": 10})
    # Start beside the goal, so that climbs and steps meet it.
    state = eqx.tree_at(lambda s: s.observation, start(agent), np.float32(beside))
    state = advance(agent, state, 0, 400)
    queued = np.asarray(state.queue.rows)[: int(state.queue.count)]
    assert len(queued) > 400
    assert np.isfinite(queued).all()
    contains, terminal = jax.jit(jax.vmap(lambda s: (env.contains(s), env.terminal(s))))(queued)
    assert np.all(contains)
    assert not np.any(terminal)
    assert np.isfinite(state.learner.params).all()
    assert state.diagnostics.updates == 2 * 400


def test_the_learned_model_learns_and_its_error_is_counted():
    settings = {"model": "learned", "search_control.states": 5, "model.hidden": (8,)}
    agent = agent_of(envs.make("GridWorld"), "dyna-replay", **settings)
    initial = start(agent).model.params
    state = run(agent, 127)
    np.testing.assert_array_equal(state.model.params, initial)  # too few transitions
    state = advance(agent, state, 127, 200)
    assert np.any(state.model.params != initial)
    metrics = jax.jit(agent.metrics)(state)
    assert 0 < metrics["model_error"] < 1
    assert metrics["search_states"] == 5


def test_nothing_is_searched_before_updates_begin():
    dyna = agent_of(Clock(), "dyna-uniform", warmup_steps=30)
    state = run(dyna, 30)
    assert state.queue.count == 0
    assert state.diagnostics.searches.tolist() == [0, 0, 0, 0, 0]
    state = advance(dyna, state, 30, 40)
    assert state.queue.count == 10 * 20
    assert state.diagnostics.searches.tolist() == [10, 200, 0, 0, 0]


class Counts(Model):
    """Counts its updates, and the mini-batches that differ from the one before."""

    learn_batch = 4

    def init(self, key):
        return jnp.zeros(()), jnp.zeros(()), jnp.zeros(4)

    def query(self, state, s, action, noise):
        return s, jnp.asarray(-1.0), jnp.zeros((), bool)

    def learn(self, state, batch):
        updates, new, last = state
        return updates + 1, new + (batch.state[:, 0] != last).any(), batch.state[:, 0]


def test_a_model_is_updated_as_often_as_is_set_once_there_is_a_batch():
    dyna = agent_of(Clock(), "dyna-uniform", {"model": Counts()}, **{"planning.model_updates": 3})
    state = run(dyna, 3)
    assert state.model[0] == 0
    updates, new, _ = advance(dyna, state, 3, 30).model
    assert updates == 3 * 27
    assert new > 0.9 * updates
