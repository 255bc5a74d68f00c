"""Multilayer perceptrons: for action values, with tanh in the paper, and for the learned model."""

import functools
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.networks.activations import Activation
from freqdyna.agents.networks.tanh import tanh

OUTPUT_SCALE = 0.003


class Network(eqx.Module):
    """A multilayer perceptron with a linear output, for one input."""

    weights: tuple[Float[Array, "_ _"], ...]
    """One matrix per layer, shape (inputs, outputs)."""
    biases: tuple[Float[Array, " _"], ...]
    """One vector per layer, shape (outputs,)."""
    activation: Activation = eqx.field(static=True, default=tanh)

    def __call__(self, inputs: Float[Array, " i"]) -> Float[Array, " o"]:
        """The output, such as Q(s, a) for every action a."""
        hidden = inputs
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = self.activation(_product(hidden, weight) + bias)
        return _product(hidden, self.weights[-1]) + self.biases[-1]


def init_xavier(
    key: PRNGKeyArray, sizes: tuple[int, ...], activation: Activation = tanh
) -> Network:
    """A network with Xavier uniform weights and zero biases.

    Args:
        key: A random key.
        sizes: Layer widths, from the inputs to the outputs.
        activation: The activation of the hidden layers.

    """
    shapes = list(itertools.pairwise(sizes))
    xavier = jax.nn.initializers.glorot_uniform()
    keys = jax.random.split(key, len(shapes))
    weights = tuple(xavier(k, shape) for k, shape in zip(keys, shapes, strict=True))
    return Network(weights, tuple(jnp.zeros(width) for width in sizes[1:]), activation)


def init_network(key: PRNGKeyArray, sizes: tuple[int, ...]) -> Network:
    """The paper's Q network: like `init_xavier`, but with an output layer uniform in ±0.003.

    All action values are therefore close to zero initially.
    """
    hidden_key, weight_key, bias_key = jax.random.split(key, 3)
    network = init_xavier(hidden_key, sizes)
    small = functools.partial(jax.random.uniform, minval=-OUTPUT_SCALE, maxval=OUTPUT_SCALE)
    output = small(weight_key, sizes[-2:]), small(bias_key, sizes[-1:])
    return eqx.tree_at(lambda net: (net.weights[-1], net.biases[-1]), network, output)


def network_from_flat(
    params: Float[Array, " p"], sizes: tuple[int, ...], activation: Activation = tanh
) -> Network:
    """The network with the parameters of a flat vector.

    Args:
        params: All weight matrices, then all biases (the order of `ravel_pytree`), shape (p,).
        sizes: Layer widths, from the inputs to the outputs.
        activation: The activation of the hidden layers.

    """
    shapes = [*itertools.pairwise(sizes), *((width,) for width in sizes[1:])]
    ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
    pieces = jnp.split(params, ends[:-1])
    arrays = [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
    layers = len(sizes) - 1
    return Network(tuple(arrays[:layers]), tuple(arrays[layers:]), activation)


def _product(vector: Float[Array, " i"], matrix: Float[Array, "i o"]) -> Float[Array, " o"]:
    # Full float32 precision: by default, recent GPUs round the operands to 10 bits.
    return jnp.dot(vector, matrix, precision=jax.lax.Precision.HIGHEST)
