"""Random keys with the bits of JAX's own, in programs that a CPU compiles and runs faster.

JAX computes Threefry with a loop on a CPU, and each draw becomes a dozen kernels. They are most of
what is compiled for a training. Here the loop is written out: a draw is one kernel.
"""

import math

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, UInt32

_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
_PARITY = np.uint32(0x1BD11BDA)
_JAX = "threefry2x32"


def seed_keys(seeds: Int[np.ndarray, " k"]) -> Key[Array, " k"]:
    """The key of each seed; its random numbers are those of `jax.random.key(seed)`."""
    keys = jax.vmap(jax.random.key)(jnp.asarray(seeds))
    if jax.default_backend() != "cpu" or not jax.config.values["jax_threefry_partitionable"]:
        return keys
    return jax.random.wrap_key_data(jax.random.key_data(keys), impl=_THREEFRY)


def _hash(key: UInt32[Array, "2"], high: Array, low: Array) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds (Salmon et al., 2011) of counters of 64 bits in two words."""
    words = key[0], key[1], key[0] ^ key[1] ^ _PARITY
    high, low = high + words[0], low + words[1]
    for i in range(5):
        for rotation in _ROTATIONS[i % 2]:
            high = high + low
            low = high ^ ((low << np.uint32(rotation)) | (low >> np.uint32(32 - rotation)))
        high, low = high + words[(i + 1) % 3], low + words[(i + 2) % 3] + np.uint32(i + 1)
    return high, low


def _count(key: UInt32[Array, "2"], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The hash of 0, 1, 2, ... in an array of this shape."""
    counters = jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    return _hash(key, jnp.zeros(shape, jnp.uint32), counters)


def _seed(seed: Int[Array, ""]) -> UInt32[Array, "2"]:
    data: UInt32[Array, "2"] = jax.random.key_data(jax.random.key(seed, impl=_JAX))
    return data


def _split(key: UInt32[Array, "2"], shape: tuple[int, ...]) -> UInt32[Array, "*shape 2"]:
    return jnp.stack(_count(key, shape), axis=-1)


def _fold_in(key: UInt32[Array, "2"], number: int | UInt32[Array, ""]) -> UInt32[Array, "2"]:
    return jnp.stack(_hash(key, jnp.zeros((), jnp.uint32), jnp.asarray(number, jnp.uint32)))


def _random_bits(key: UInt32[Array, "2"], width: int, shape: tuple[int, ...]) -> Array:
    # JAX's loop: LLVM needs minutes for an index in memory that is computed by so long a chain.
    return jax.random.bits(jax.random.wrap_key_data(key, impl=_JAX), shape, f"uint{width}")


_THREEFRY = jax.extend.random.define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="threefry2x32_unrolled",
    tag="fry",
)
