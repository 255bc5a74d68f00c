import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock

from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.simulation import Simulation
from freqdyna.agents.models import Model
from freqdyna.envs.resolve import resolved
from freqdyna.envs.transition import Transition
from freqdyna.training.training import Training


def make_dyna(env, algorithm="er", **settings):
    settings = {"steps": 200, "warmup_steps": 0, "planning_steps": 2, "hidden": (4,)} | settings
    config = Config(algorithm=algorithm, env=env.name, **settings)
    return algorithms.build(resolved(config, env), env)


def run(dyna, steps, seed=0):
    state = dyna.init(jax.random.key(seed))
    step = eqx.filter_jit(dyna.step)
    for t in range(steps):
        state = step(state, jnp.asarray(t))
    return state


def test_stores_what_happened_and_a_cut_is_not_a_termination():
    rows = run(make_dyna(Clock(episode_limit=5, last=1000)), 12).replay.rows[:12]
    states, next_states, terminals = rows[:, 0], rows[:, 1], rows[:, -1]
    np.testing.assert_array_equal(states, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
    np.testing.assert_array_equal(next_states, states + 1)
    assert not terminals.any()


def test_a_termination_is_stored_and_starts_a_new_episode():
    state = run(make_dyna(Clock(episode_limit=100, last=3)), 8)
    rows = state.replay.rows[:8]
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 2, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1, 0, 0, 1, 0, 0])
    assert state.diagnostics.episodes == 2


@pytest.mark.parametrize("algorithm", ["er", "prioritized-er", "dyna-frequency"])
def test_counts_d_updates_a_step(algorithm):
    dyna = make_dyna(Clock(), algorithm, planning_steps=3)
    assert run(dyna, 5).diagnostics.updates == 15


def test_warm_up_actions_are_random_and_later_ones_mostly_greedy():
    dyna = make_dyna(Clock(), warmup_steps=100, learning_rate=0.0)
    actions = run(dyna, 200).replay.rows[:, 2]
    assert 25 < actions[:100].sum() < 75  # 5 standard deviations about 50
    greedy = jnp.argmax(dyna.learner.network(run(dyna, 0).learner.params)(jnp.zeros(1)))
    share = (actions[100:] == greedy).mean()
    assert share > 0.8  # expected 0.95 at exploration 0.1 with two actions


def test_updates_begin_with_the_first_step_unless_told_to_wait():
    start = make_dyna(Clock()).init(jax.random.key(0)).learner.params
    for waits, moved in ((False, True), (True, False)):
        dyna = make_dyna(Clock(), warmup_steps=50, learn_in_warmup=not waits)
        assert bool((run(dyna, 50).learner.params != start).any()) == moved
    after = run(make_dyna(Clock(), warmup_steps=50, learn_in_warmup=False), 51)
    assert (after.learner.params != start).any()
    assert after.diagnostics.updates == 2


def test_the_ring_forgets_what_is_older_than_its_size():
    dyna = make_dyna(Clock(episode_limit=1000), buffer_size=10)
    rows = run(dyna, 25).replay.rows
    assert rows.shape[0] == 10
    np.testing.assert_array_equal(np.sort(rows[:, 0]), np.arange(15, 25))


def test_a_seed_whose_loss_is_not_finite_is_marked_with_its_step():
    dyna = make_dyna(Clock())
    state = run(dyna, 10)
    assert state.diagnostics.diverged_at == -1
    broken = eqx.tree_at(lambda s: s.learner.params, state, state.learner.params * jnp.inf)
    broken = dyna.step(dyna.step(broken, jnp.asarray(10)), jnp.asarray(11))
    assert broken.diagnostics.diverged_at == 11
    assert jnp.isfinite(broken.observation).all()


@pytest.mark.parametrize("algorithm", ["dyna-frequency"])
def test_no_simulated_share_is_exactly_er(algorithm):
    env = envs.make("MountainCar-v0")
    er = run(make_dyna(env, steps=60), 60)
    dyna = run(make_dyna(env, algorithm, steps=60, simulated_share=0.0), 60)
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
    agent = make_dyna(env, algorithm, steps=400, hidden=(8, 8), search_states=10)
    training = Training(agent, 1, 0.0)
    advance = jax.jit(training.advance)
    # Start beside the goal, so that climbs and steps meet it.
    state = training.init(jax.random.key(0))
    beside = {"MountainCar-v0": (0.45, 0.04), "DynaMaze": (1.0, 8.0)}.get(name, (0.96, 0.9))
    state = eqx.tree_at(lambda s: s.observation, state, jnp.array(beside))
    state = advance(state, jnp.asarray(0), jnp.asarray(400))
    queued = state.queue.rows[: int(state.queue.count)]
    assert len(queued) > 400
    assert jnp.isfinite(queued).all()
    assert jax.vmap(env.contains)(queued).all()
    assert not jax.vmap(env.terminal)(queued).any()
    assert jnp.isfinite(state.learner.params).all()


def test_simulated_transitions_come_from_queue_on_policy_actions_and_the_model():
    env = envs.make("MountainCar-v0")
    agent = make_dyna(env, "dyna-value", steps=50, planning_exploration=0.0)
    state = run(agent, 40)
    simulation = Simulation.draw(
        agent.planning, state.model, state.queue.sample, None, agent.learner, 2, jax.random.key(1)
    )
    network = agent.learner.network(state.learner.params)
    rows = simulation.transitions(jnp.asarray(1), jax.vmap(network)(simulation.states[1]))
    assert rows.shape == (16, 7)
    queued = {tuple(row) for row in np.asarray(state.queue.rows[: int(state.queue.count)]).tolist()}
    for row in rows:
        seen = Transition.unpack(row)
        assert tuple(np.asarray(seen.state).tolist()) in queued
        assert seen.action == jnp.argmax(network(seen.state))
        expected = env.transition(seen.state, seen.action, jax.random.key(0))
        np.testing.assert_array_equal(seen.next_state, expected[0])


def test_the_learned_model_learns_and_its_error_is_counted():
    env = envs.make("GridWorld")
    agent = make_dyna(env, "dyna-value", steps=300, model="learned", search_states=5)
    training = Training(agent, 1, 0.0)
    start = training.init(jax.random.key(0))
    state = jax.jit(training.advance)(start, jnp.asarray(0), jnp.asarray(127))
    np.testing.assert_array_equal(state.model.params, start.model.params)  # too few transitions
    state = jax.jit(training.advance)(state, jnp.asarray(127), jnp.asarray(200))
    assert (state.model.params != start.model.params).any()
    metrics = agent.metrics(state)
    assert 0 < metrics["model_error"] < 1
    assert metrics["search_states"] == pytest.approx(5, abs=0.5)
    assert metrics["climb_iterations"] >= 5


def test_a_search_control_is_given_to_dyna_and_to_nothing_else():
    for algorithm in ("er", "dyna-value"):
        with pytest.raises(FreqdynaError, match=f"is set, but algorithm '{algorithm}' has its"):
            make_dyna(Clock(), algorithm, search_control="value")
    with pytest.raises(FreqdynaError, match="search_control is None; algorithm 'dyna' needs one"):
        make_dyna(Clock(), "dyna")
    with pytest.raises(FreqdynaError, match="model is 'learned', but 'er' has no model"):
        make_dyna(Clock(), "er", model="learned")
    named = make_dyna(Clock(), "dyna", search_control="value").planning
    assert repr(named) == repr(make_dyna(Clock(), "dyna-value").planning)


def test_nothing_is_searched_before_updates_begin():
    dyna = make_dyna(
        envs.make("GridWorld"), "dyna-value", warmup_steps=30, learn_in_warmup=False, steps=60
    )
    state = run(dyna, 30)
    assert state.queue.count == 0
    assert state.diagnostics.searches.tolist() == [0, 0, 0, 0, 0]
    state = run(dyna, 40)
    assert state.queue.count == 10 * 20
    assert dyna.metrics(state)["search_states"] == 20


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
    config = resolved(
        Config("dyna-uniform", env.name, steps=30, warmup_steps=0, hidden=(4,), model_updates=3),
        env,
    )
    dyna = algorithms.build(config, env, model=Counts())
    assert run(dyna, 3).model[0] == 0
    updates, new, _ = run(dyna, 30).model
    assert updates == 3 * 27
    assert new > 0.9 * updates
