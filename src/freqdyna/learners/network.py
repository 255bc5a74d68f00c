"""The paper's Q network: tanh layers, Xavier weights, a linear output that starts near zero."""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

OUTPUT_SCALE = 0.003


class QNetwork(eqx.Module):
    """Action values of one state: a multilayer perceptron."""

    weights: tuple[Float[Array, "_ _"], ...]
    """One matrix a layer, shape (inputs, outputs)."""
    biases: tuple[Float[Array, " _"], ...]
    """One vector a layer, shape (outputs,)."""

    def __call__(self, state: Float[Array, " n"]) -> Float[Array, " actions"]:
        """Q(s, a) for every action a."""
        hidden = state
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = jnp.tanh(_product(hidden, weight) + bias)
        return _product(hidden, self.weights[-1]) + self.biases[-1]


def init_network(key: PRNGKeyArray, sizes: tuple[int, ...]) -> QNetwork:
    """A network of layer widths `sizes`, initialised as in the paper's reproducibility section.

    Hidden weights are Xavier uniform and hidden biases zero; the output layer is uniform in
    [-0.003, 0.003], so that all action values start near zero.
    """
    *hidden_keys, weight_key, bias_key = jax.random.split(key, len(sizes))
    xavier = jax.nn.initializers.glorot_uniform()
    shapes = itertools.pairwise(sizes[:-1])
    weights = [xavier(k, shape) for k, shape in zip(hidden_keys, shapes, strict=True)]
    biases = [jnp.zeros(width) for width in sizes[1:-1]]
    small = functools.partial(jax.random.uniform, minval=-OUTPUT_SCALE, maxval=OUTPUT_SCALE)
    weights.append(small(weight_key, sizes[-2:]))
    biases.append(small(bias_key, sizes[-1:]))
    return QNetwork(tuple(weights), tuple(biases))


def network_from_flat(params: Float[Array, " p"], sizes: tuple[int, ...]) -> QNetwork:
    """The network of layer widths `sizes` that a flat vector stands for.

    The vector holds all weight matrices, then all biases: the order of `ravel_pytree`.
    """
    shapes = [*itertools.pairwise(sizes), *((width,) for width in sizes[1:])]
    ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
    pieces = jnp.split(params, ends[:-1])
    arrays = [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
    layers = len(sizes) - 1
    return QNetwork(tuple(arrays[:layers]), tuple(arrays[layers:]))


def _product(vector: Float[Array, " i"], matrix: Float[Array, "i o"]) -> Float[Array, " o"]:
    # Full float32: the default on recent GPUs rounds the operands to 10 bits.
    return jnp.dot(vector, matrix, precision=jax.lax.Precision.HIGHEST)
