"""The activations of hidden layers, and their derivatives in closed form."""

from collections.abc import Callable, Iterator, Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from freqdyna.agents.networks.tanh import tanh

Activation = Callable[[Array], Array]
Numbers = Float[Array, "*d"]
Derivatives = Callable[[Numbers, Numbers], Iterator[Numbers]]
"""From inputs p and the values f(p) to f'(p), f''(p) and f'''(p), computed as they are needed."""


def _of_tanh(p: Numbers, value: Numbers) -> Iterator[Numbers]:
    slope = 1 - value**2
    yield slope
    yield -2 * value * slope
    yield (4 * value**2 - 2 * slope) * slope


def _of_relu(p: Numbers, value: Numbers) -> Iterator[Numbers]:
    yield (p > 0).astype(p.dtype)
    yield jnp.zeros_like(p)
    yield jnp.zeros_like(p)


def _of_silu(p: Numbers, value: Numbers) -> Iterator[Numbers]:
    gate = jax.nn.sigmoid(p)
    gate_slope, odd = gate * (1 - gate), 1 - 2 * gate
    yield gate + p * gate_slope
    yield gate_slope * (2 + p * odd)
    yield gate_slope * (3 * odd + p * (odd**2 - 2 * gate_slope))


ACTIVATIONS: Mapping[str, Activation] = {
    "tanh": tanh,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
}
"""By the name in the setting `activation`."""
DERIVATIVES: Mapping[Activation, Derivatives] = {
    tanh: _of_tanh,
    jax.nn.relu: _of_relu,
    jax.nn.silu: _of_silu,
}
