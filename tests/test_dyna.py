import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock

from freqdyna import algorithms
from freqdyna.config import Config


def make_dyna(env, algorithm="er", **settings):
    settings = {"steps": 200, "warmup_steps": 0, "planning_steps": 2, "hidden": (4,)} | settings
    return algorithms.build(Config(algorithm=algorithm, env=env.name, **settings), env)


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


@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
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
