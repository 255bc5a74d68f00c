import flashbax
import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from freqdyna.agents.replay.prioritized import PrioritizedReplay

FALSE_ALARMS = 1e-6


def filled(size, capacity=500, exponent=0.6):
    replay = PrioritizedReplay(capacity, exponent)
    state = replay.init(1)
    for count in range(size):
        state = replay.add(state, jnp.full(1, float(count)), jnp.asarray(count))
    return replay, state


def test_half_by_priority_half_uniform_with_exact_probabilities():
    size = 60
    replay, state = filled(size)
    differences = np.random.default_rng(0).normal(size=size).astype(np.float32)
    state = replay.update_priorities(state, jnp.arange(size), jnp.asarray(differences))
    draws = 200_000
    bits = jax.random.bits(jax.random.key(1), (draws,))
    rows, indices = replay.sample(state, bits, jnp.asarray(size))
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
    state = replay.update_priorities(state, jnp.arange(size), jnp.asarray(priorities - 1e-6))
    bits = jax.random.bits(jax.random.key(3), (2 * draws,))
    ours = np.asarray(replay.sample(state, bits, jnp.asarray(size))[1][:draws])

    buffer = flashbax.make_prioritised_trajectory_buffer(
        add_batch_size=1,
        sample_batch_size=draws,
        sample_sequence_length=1,
        period=1,
        min_length_time_axis=1,
        max_length_time_axis=size,
        priority_exponent=1.0,
    )
    theirs = buffer.init(jnp.zeros(()))
    theirs = buffer.add(theirs, jnp.arange(size, dtype=jnp.float32)[None])
    sample = buffer.sample(theirs, jax.random.key(4))
    # Their indices stand for places in their own layout: learn them by what they hold.
    place = np.full(size, -1)
    place[np.asarray(sample.experience[:, 0]).astype(int)] = np.asarray(sample.indices)
    assert (place >= 0).all()
    theirs = buffer.set_priorities(theirs, jnp.asarray(place), jnp.asarray(priorities))
    drawn = np.asarray(buffer.sample(theirs, jax.random.key(5)).experience[:, 0]).astype(int)

    table = [np.bincount(ours, minlength=size), np.bincount(drawn, minlength=size)]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARMS


def test_a_new_transition_gets_the_greatest_priority_so_far():
    replay, state = filled(3, exponent=1.0)
    np.testing.assert_allclose(state.tree.get(jnp.arange(4)), [1, 1, 1, 0])
    state = replay.update_priorities(state, jnp.array([0, 1]), jnp.array([-5.0, 0.5]))
    state = replay.add(state, jnp.zeros(1), jnp.asarray(3))
    np.testing.assert_allclose(state.tree.get(jnp.arange(4)), [5, 0.5, 1, 5], atol=1e-5)


def test_differences_that_are_not_finite_leave_the_tree_usable():
    replay, state = filled(5)
    state = replay.update_priorities(state, jnp.arange(3), jnp.array([jnp.nan, jnp.inf, 1.0]))
    assert jnp.isfinite(state.tree.total())
    bits = jax.random.bits(jax.random.key(0), (400,))
    indices = replay.sample(state, bits, jnp.asarray(5))[1]
    assert set(np.asarray(indices[:200]).tolist()) == {2, 3, 4}
