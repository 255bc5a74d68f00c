import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock

from freqdyna import Config, envs
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.planning import Simulation
from freqdyna.agents.models import Model
from freqdyna.envs.space import Transition


def make_dyna(env, algorithm="er", **settings):
    settings = {
        "steps": 200,
        "warmup_steps": 0,
        "planning_steps": 2,
        "learner.hidden": (4,),
    } | settings
    config = Config.of({"algorithm": algorithm, "env": env.name, **settings})
    return algorithms.build(config, env)


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
    rows = np.asarray(run(make_dyna(clock()), 12).replay.rows)[:12]
    states, next_states, terminals = rows[:, 0], rows[:, 1], rows[:, -1]
    np.testing.assert_array_equal(states, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
    np.testing.assert_array_equal(next_states, states + 1)
    assert not terminals.any()


def test_a_termination_is_stored_and_starts_a_new_episode():
    state = run(make_dyna(clock(last=3)), 8)
    rows = np.asarray(state.replay.rows)[:8]
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 2, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1, 0, 0, 1, 0, 0])
    assert state.diagnostics.episodes == 2


@pytest.mark.parametrize("algorithm", ["er", "prioritized-er"])
def test_counts_d_updates_a_step(algorithm):
    assert run(make_dyna(clock(), algorithm), 5).diagnostics.updates == 2 * 5


def test_warm_up_actions_are_random_and_later_ones_mostly_greedy():
    dyna = make_dyna(
        clock(), warmup_steps=100, scale_observations=False, learner={"learning_rate": 0.0}
    )
    actions = np.asarray(run(dyna, 200).replay.rows)[:, 2]
    assert 25 < actions[:100].sum() < 75  # 5 standard deviations about 50
    values = jax.jit(lambda params: dyna.learner.network(params)(jnp.zeros(1)))
    greedy = np.argmax(values(start(dyna).learner.params))
    share = (actions[100:] == greedy).mean()
    assert share > 0.8  # expected 0.95 at exploration 0.1 with two actions


def test_updates_begin_with_the_first_step_unless_told_to_wait():
    initial = np.asarray(start(make_dyna(clock())).learner.params)
    for waits, moved in ((False, True), (True, False)):
        dyna = make_dyna(clock(), warmup_steps=50, learn_in_warmup=not waits)
        assert bool((run(dyna, 50).learner.params != initial).any()) == moved
    after = run(make_dyna(clock(), warmup_steps=50, learn_in_warmup=False), 51)
    assert (np.asarray(after.learner.params) != initial).any()
    assert after.diagnostics.updates == 2


def test_the_ring_forgets_what_is_older_than_its_size():
    dyna = make_dyna(Clock(episode_limit=1000), replay={"capacity": 10})
    rows = np.asarray(run(dyna, 25).replay.rows)
    assert rows.shape[0] == 10
    np.testing.assert_array_equal(np.sort(rows[:, 0]), np.arange(15, 25))


def test_a_seed_whose_loss_is_not_finite_is_marked_with_its_step():
    dyna = make_dyna(clock())
    state = run(dyna, 10)
    assert state.diagnostics.diverged_at == -1
    broken = eqx.tree_at(lambda s: s.learner.params, state, np.inf * np.sign(state.learner.params))
    broken = advance(dyna, broken, 10, 12)
    assert broken.diagnostics.diverged_at == 11
    assert np.isfinite(broken.observation).all()


@pytest.mark.parametrize("algorithm", ["dyna-frequency"])
def test_no_simulated_share_is_exactly_er(algorithm):
    env = envs.make("MountainCar-v0")
    er = run(make_dyna(env, steps=60), 60)
    dyna = run(make_dyna(env, algorithm, steps=60, planning={"simulated_share": 0.0}), 60)
    np.testing.assert_array_equal(er.learner.params, dyna.learner.params)
    np.testing.assert_array_equal(er.replay.rows, dyna.replay.rows)
    assert dyna.queue.count > 0


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        ("dyna-frequency", "MountainCar-v0"),
        ("dyna-hessnorm", "GridWorld"),
        ("dyna-uniform", "MazeGridWorld"),
        ("dyna-value", "DynaMaze"),
    ],
)
def test_every_state_in_the_queue_is_valid_finite_and_not_terminal(algorithm, name):
    env = envs.make(name)
    agent = make_dyna(env, algorithm, steps=400, search_control={"states": 10})
    state = start(agent)
    # Start beside the goal, so that climbs and steps meet it.
    beside = {"MountainCar-v0": (0.45, 0.04), "DynaMaze": (1.0, 8.0)}.get(name, (0.96, 0.9))
    state = eqx.tree_at(lambda s: s.observation, state, np.float32(beside))
    state = advance(agent, state, 0, 400)
    queued = np.asarray(state.queue.rows)[: int(state.queue.count)]
    assert len(queued) > 400
    assert np.isfinite(queued).all()
    contains, terminal = jax.jit(jax.vmap(lambda s: (env.contains(s), env.terminal(s))))(queued)
    assert np.all(contains)
    assert not np.any(terminal)
    assert np.isfinite(state.learner.params).all()
    assert state.diagnostics.updates == 2 * 400


def test_simulated_transitions_come_from_queue_on_policy_actions_and_the_model():
    env = envs.make("MountainCar-v0")
    agent = make_dyna(env, "dyna-value", steps=50, planning={"exploration": 0.0})
    state = run(agent, 40)

    @jax.jit
    def simulated(state):
        simulation = Simulation.draw(
            agent.planning,
            state.model,
            agent.buffers(state, jnp.asarray(39)),
            agent.learner,
            2,
            jax.random.key(1),
        )
        values = jax.vmap(agent.learner.network(state.learner.params))
        rows = simulation.transitions(jnp.asarray(1), values(simulation.states[1]))
        seen = jax.vmap(Transition.unpack)(rows)
        return rows, seen, values(seen.state)

    rows, seen, values = simulated(state)
    assert rows.shape == (16, 7)
    queued = {tuple(row) for row in np.asarray(state.queue.rows)[: int(state.queue.count)].tolist()}
    assert {tuple(row) for row in np.asarray(seen.state).tolist()} <= queued
    np.testing.assert_array_equal(seen.action, np.argmax(values, axis=1))
    step = jax.jit(jax.vmap(env.transition, in_axes=(0, 0, None)))
    expected = step(seen.state, seen.action, jax.random.key(0))
    np.testing.assert_array_equal(seen.next_state, expected[0])


def test_the_learned_model_learns_and_its_error_is_counted():
    env = envs.make("GridWorld")
    agent = make_dyna(env, "dyna-value", steps=300, model="learned", search_control={"states": 5})
    initial = start(agent).model.params
    state = run(agent, 127)
    np.testing.assert_array_equal(state.model.params, initial)  # too few transitions
    state = advance(agent, state, 127, 200)
    assert np.any(state.model.params != initial)
    metrics = jax.jit(agent.metrics)(state)
    assert 0 < metrics["model_error"] < 1
    assert metrics["search_states"] == pytest.approx(5, abs=0.5)
    assert metrics["climb_iterations"] >= 5


def test_dyna_has_the_search_control_of_your_choice():
    named = make_dyna(Clock(), "dyna", search_control="value").planning
    assert repr(named) == repr(make_dyna(Clock(), "dyna-value").planning)
    usual = make_dyna(Clock(), "dyna").planning
    assert repr(usual) == repr(make_dyna(Clock(), "dyna-td-error").planning)


def test_nothing_is_searched_before_updates_begin():
    dyna = make_dyna(
        envs.make("GridWorld"), "dyna-value", warmup_steps=30, learn_in_warmup=False, steps=60
    )
    state = run(dyna, 30)
    assert state.queue.count == 0
    assert state.diagnostics.searches.tolist() == [0, 0, 0, 0, 0]
    state = run(dyna, 40)
    assert state.queue.count == 10 * 20
    assert jax.jit(dyna.metrics)(state)["search_states"] == 20


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


def test_a_model_is_updated_as_often_as_it_is_told_once_there_is_a_batch():
    env = Clock()
    config = Config.of(
        {
            "algorithm": "dyna-uniform",
            "env": env.name,
            "steps": 30,
            "warmup_steps": 0,
            "learner": {"hidden": (4,)},
            "planning": {"model_updates": 3},
        }
    )
    dyna = algorithms.build(config, env, components={"model": Counts()})
    assert run(dyna, 3).model[0] == 0
    updates, new, _ = run(dyna, 30).model
    assert updates == 3 * 27
    assert new > 0.9 * updates
