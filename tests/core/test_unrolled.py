"""Unrolled or not, loops and sums have the same results."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.core import unrolled

pytestmark = pytest.mark.default_compiler


@pytest.fixture(params=[1, 8])
def iterations_at_once(request, monkeypatch):
    monkeypatch.setattr(unrolled, "_iterations_at_once", lambda: request.param)


@pytest.mark.usefixtures("iterations_at_once")
@pytest.mark.parametrize("turns", [0, 3, 30])
def test_repeat_takes_every_turn_once_and_in_order(turns):
    taken = unrolled.repeat(turns, lambda i, c: 3 * c % 1009 + i, jnp.int32(1))
    expected = 1
    for i in range(turns):
        expected = 3 * expected % 1009 + i
    assert int(taken) == expected


@pytest.mark.usefixtures("iterations_at_once")
def test_repeat_while_stops_every_seed_at_its_own_turn():
    limits = jnp.arange(20)

    def count(limit):
        return unrolled.repeat_while(
            lambda c: c["turns"] < limit,
            lambda c: {"turns": c["turns"] + 1, "sum": c["sum"] + c["turns"]},
            {"turns": jnp.int32(0), "sum": jnp.int32(0)},
        )

    counted = jax.vmap(count)(limits)
    assert counted["turns"].tolist() == limits.tolist()
    assert counted["sum"].tolist() == (limits * (limits - 1) // 2).tolist()


@pytest.mark.parametrize("n", [1, unrolled.FEW, unrolled.FEW + 1])
def test_written_out_sums_are_the_sums(n):
    numbers = np.random.default_rng(n).normal(size=(4, n)).astype(np.float32)
    np.testing.assert_allclose(unrolled.total(jnp.asarray(numbers)), numbers.sum(-1), rtol=1e-5)
    norms = np.linalg.norm(numbers, axis=-1)
    np.testing.assert_allclose(unrolled.norm(jnp.asarray(numbers)), norms, rtol=1e-5)
    flags = numbers > -0.5
    assert unrolled.every(jnp.asarray(flags)).tolist() == flags.all(-1).tolist()
    for row in (*numbers, np.zeros(n, np.float32)):  # the first one of equal numbers
        assert unrolled.argmax(jnp.asarray(row)) == row.argmax()
