import equinox as eqx
import flashbax
import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from freqdyna.agents.replay import PrioritizedReplay

FALSE_ALARMS = 1e-6


@eqx.filter_jit
def fill(replay, size):
    def add(count, state):
        return replay.add(state, jnp.full(1, count, jnp.float32), count)

    return jax.lax.fori_loop(0, size, add, replay.init(1))


@eqx.filter_jit
def prioritized(replay, state, indices, differences):
    return replay.update_priorities(state, indices, differences)


@eqx.filter_jit
def drawn(replay, state, key, draws, size):
    bits = jax.random.bits(key, (draws,))
    return replay.sample(state, bits, jnp.asarray(size))


def filled(size, capacity=500, exponent=0.6):
    replay = PrioritizedReplay(capacity, exponent)
    return replay, fill(replay, jnp.asarray(size))


def test_half_by_priority_half_uniform_with_exact_probabilities():
    size = 60
    replay, state = filled(size)
    differences = np.random.default_rng(0).normal(size=size).astype(np.float32)
    state = prioritized(replay, state, np.arange(size), differences)
    draws = 200_000
    rows, indices = map(np.asarray, drawn(replay, state, jax.random.key(1), draws, size))
    np.testing.assert_array_equal(rows[:, 0], indices)
    by_priority = np.bincount(indices[: draws // 2], minlength=size)
    uniform = np.bincount(indices[draws // 2 :], minlength=size)
    priorities = (np.abs(differences) + 1e-6) ** 0.6
    expected = priorities / priorities.sum() * (draws // 2)
    assert stats.chisquare(by_priority, expected, sum_check=False).pvalue > FALSE_ALARMS
    assert stats.chisquare(uniform).pvalue > FALSE_ALARMS


def test_draws_agree_with_flashbax():
    size, draws = 64, 100_000
    priorities = np.random.default_rng(2).random(size).astype(np.float32) + 0.01
    replay, state = filled(size, capacity=size, exponent=1.0)
    state = prioritized(replay, state, np.arange(size), priorities - np.float32(1e-6))
    ours = np.asarray(drawn(replay, state, jax.random.key(3), 2 * draws, size)[1])[:draws]

    buffer = flashbax.make_prioritised_trajectory_buffer(
        add_batch_size=1,
        sample_batch_size=draws,
        sample_sequence_length=1,
        period=1,
        min_length_time_axis=1,
        max_length_time_axis=size,
        priority_exponent=1.0,
    )
    sampled = jax.jit(buffer.sample)
    theirs = jax.jit(lambda batch: buffer.add(buffer.init(jnp.zeros(())), batch))(
        np.arange(size, dtype=np.float32)[None]
    )
    sample = sampled(theirs, jax.random.key(4))
    # Their indices stand for places in their own layout: learn them by what they hold.
    place = np.full(size, -1)
    place[np.asarray(sample.experience)[:, 0].astype(int)] = np.asarray(sample.indices)
    assert (place >= 0).all()
    theirs = jax.jit(buffer.set_priorities)(theirs, place, priorities)
    found = np.asarray(sampled(theirs, jax.random.key(5)).experience)[:, 0].astype(int)

    table = [np.bincount(ours, minlength=size), np.bincount(found, minlength=size)]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARMS


def test_a_new_transition_gets_the_greatest_priority_so_far():
    replay, state = filled(3, exponent=1.0)
    get = jax.jit(lambda state: state.tree.get(jnp.arange(4)))
    np.testing.assert_allclose(get(state), [1, 1, 1, 0])
    state = prioritized(replay, state, np.array([0, 1]), np.float32([-5.0, 0.5]))
    state = jax.jit(replay.add)(state, jnp.zeros(1), jnp.asarray(3))
    np.testing.assert_allclose(get(state), [5, 0.5, 1, 5], atol=1e-5)


def test_differences_that_are_not_finite_leave_the_tree_usable():
    replay, state = filled(5)
    state = prioritized(replay, state, np.arange(3), np.float32([np.nan, np.inf, 1.0]))
    assert np.isfinite(jax.jit(lambda state: state.tree.total())(state))
    indices = drawn(replay, state, jax.random.key(0), 400, 5)[1]
    assert set(np.asarray(indices)[:200].tolist()) == {2, 3, 4}
