import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from freqdyna.agents.replay import UniformReplay
from freqdyna.envs.space import Transition, row_width


def test_a_transition_survives_packing():
    transition = Transition(
        jnp.array([0.1, -0.2]),
        jnp.array(2),
        jnp.array(-1.5),
        jnp.array([0.3, 0.4]),
        jnp.array(True),
    )
    row = transition.pack()
    assert row.shape == (row_width(2),)
    unpacked = Transition.unpack(row)
    for packed, original in zip(
        jax.tree.leaves(unpacked), jax.tree.leaves(transition), strict=True
    ):
        assert packed.dtype == original.dtype
        np.testing.assert_array_equal(packed, original)


def test_the_oldest_row_is_overwritten_first():
    replay = UniformReplay(4)
    state = replay.init(1)
    for count in range(6):
        state = replay.add(state, jnp.full(1, float(count)), jnp.asarray(count))
    np.testing.assert_array_equal(state.rows[:, 0], [4, 5, 2, 3])


def test_only_written_rows_are_drawn_and_all_equally_often():
    replay = UniformReplay(1000)
    state = replay.init(1)
    for count in range(37):
        state = replay.add(state, jnp.full(1, float(count)), jnp.asarray(count))
    bits = jax.random.bits(jax.random.key(0), (37_000,))
    rows, indices = replay.sample(state, bits, jnp.asarray(37))
    np.testing.assert_array_equal(rows[:, 0], indices)
    counts = np.bincount(indices, minlength=37)
    assert len(counts) == 37
    assert stats.chisquare(counts).pvalue > 1e-6  # the rate of false alarms
