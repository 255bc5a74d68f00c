"""Written out or not, the same sums."""

import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.core import unrolled

pytestmark = pytest.mark.default_compiler


@pytest.mark.parametrize("n", [1, 2, 3, unrolled.FEW, unrolled.FEW + 1])
def test_written_out_sums_are_the_sums(n):
    numbers = np.random.default_rng(n).normal(size=(4, n)).astype(np.float32)
    np.testing.assert_allclose(unrolled.total(jnp.asarray(numbers)), numbers.sum(-1), rtol=1e-5)
    np.testing.assert_allclose(
        unrolled.norm(jnp.asarray(numbers)), np.linalg.norm(numbers, axis=-1), rtol=1e-5
    )
    flags = numbers > -0.5
    assert unrolled.every(jnp.asarray(flags)).tolist() == flags.all(-1).tolist()
    for row in numbers:
        assert unrolled.argmax(jnp.asarray(row)) == row.argmax()


def test_the_first_of_equal_numbers_is_the_greatest():
    assert unrolled.argmax(jnp.array([1.0, 2.0, 2.0])) == 1
    assert unrolled.argmax(jnp.zeros(4)) == 0
