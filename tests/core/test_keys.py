import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.core.keys import seed_keys

SEEDS = np.array([0, 1, 7, 2**31 - 1])


@pytest.fixture
def both():
    """The keys of some seeds, here and in JAX."""
    return seed_keys(SEEDS), jax.vmap(jax.random.key)(jnp.asarray(SEEDS))


DERIVED = {
    "itself": lambda key: key,
    "split": lambda key: jax.random.split(key, (3, 2))[2, 1],
    "fold": lambda key: jax.random.fold_in(key, jnp.int32(-5)),
    "both": lambda key: jax.random.split(jax.random.fold_in(key, 2**31 - 1))[1],
}
DRAWS = {
    "bits": lambda key: jax.random.bits(key, (5,), jnp.uint32),
    "uniform": lambda key: jax.random.uniform(key, (2, 3), minval=-1.0),
    "normal": lambda key: jax.random.normal(key, (7,)),
    "integers": lambda key: jax.random.randint(key, (), 0, 1000),
    "permutation": lambda key: jax.random.permutation(key, 6),
}


@pytest.mark.parametrize("derived", DERIVED)
def test_random_numbers_are_those_of_jax(both, derived):
    ours, theirs = (jax.vmap(DERIVED[derived])(keys) for keys in both)
    for draw in DRAWS.values():
        np.testing.assert_array_equal(jax.vmap(draw)(ours), jax.vmap(draw)(theirs))
