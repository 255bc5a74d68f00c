"""Networks as functions of one flat parameter vector, and the derivatives of their value.

tanh is a rational function x P(x²)/Q(x²): as accurate as XLA's, with a relative error of 2e-8 up to
|x| = 9, beyond which tanh is one in float32, and five times faster on a CPU, where XLA's took half
the time of an update (docs/performance.md). `benchmarks/fit_tanh.py` computes the coefficients.

V(s) = max_a Q(s, a) has its derivatives in closed form, computed forward. The value, Jacobian,
Hessian and, for states with few coordinates, third derivatives of every layer are propagated
together as columns of one matrix, so that each layer is one matrix product. For the 2 coordinates
of the paper's environments that makes 10 columns and needs no reverse pass for ∇g; nesting
`jax.hessian` in `grad` costs several times as much.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.core import unrolled
from freqdyna.frequency import Derivatives, ValueFunction, stochastic_slopes

LARGEST = 9.0
P = (0.99999998, 0.133809811, 0.00349553449, 2.06081841e-05, 1.33534121e-08)
Q = (1.0, 0.467142968, 0.0258767799, 0.000328554625, 7.77604676e-07)


@jax.custom_jvp
def tanh(x: Float[Array, "*d"]) -> Float[Array, "*d"]:
    """The hyperbolic tangent, elementwise."""
    if x.dtype != jnp.float32:
        return jnp.tanh(x)
    x = jnp.clip(x, -LARGEST, LARGEST)
    square = x * x
    ratio = x * jnp.polyval(jnp.array(P[::-1], x.dtype), square, unroll=len(P))
    ratio = ratio / jnp.polyval(jnp.array(Q[::-1], x.dtype), square, unroll=len(Q))
    return jnp.clip(ratio, -1.0, 1.0)


tanh.defjvps(lambda tangent, value, x: (1 - value**2) * tangent)


Activation = Callable[[Array], Array]
Numbers = Float[Array, "*d"]
ActivationDerivatives = Callable[[Numbers, Numbers], Iterator[Numbers]]
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
DERIVATIVES: Mapping[Activation, ActivationDerivatives] = {
    tanh: _of_tanh,
    jax.nn.relu: _of_relu,
    jax.nn.silu: _of_silu,
}


FirstLayer = tuple[Float[Array, "i h"], Float[Array, " h"]]
"""The weights and biases of a first layer."""
OUTPUT_SCALE = 0.003
SMALLEST_VARIANCE = 1e-5
"""Is added to the variance of a layer, so that equal numbers can be normalised."""


class Network(eqx.Module):
    """A multilayer perceptron with a linear output, for one input."""

    weights: tuple[Float[Array, "_ _"], ...]
    """One matrix per layer, shape (inputs, outputs)."""
    biases: tuple[Float[Array, " _"], ...]
    """One vector per layer, shape (outputs,)."""
    activation: Activation = eqx.field(static=True, default=tanh)
    layer_norm: bool = eqx.field(static=True, default=False)
    """Whether the inputs of each activation are normalised over the units of their layer."""
    precision: jax.lax.Precision = eqx.field(static=True, default=jax.lax.Precision.HIGHEST)
    """Of the products in `__call__`, see `_product`."""
    recomputes: bool = eqx.field(static=True, default=False)
    """Whether a gradient computes hidden layers again instead of storing what is inside them."""

    def __call__(self, inputs: Float[Array, " i"]) -> Float[Array, " o"]:
        """The output, such as Q(s, a) for every action a."""

        def activated(linear: Float[Array, " h"]) -> Float[Array, " h"]:
            return self.activation(normalize(linear) if self.layer_norm else linear)

        layer = jax.checkpoint(activated) if self.recomputes else activated
        hidden = inputs
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = layer(_product(hidden, weight, self.precision) + bias)
        return _product(hidden, self.weights[-1], self.precision) + self.biases[-1]

    def with_fast_gradients(self) -> "Network":
        """The network as a GPU computes its gradients fastest; on a CPU nothing changes.

        Products have operands of 10 bits, which suffices for a gradient that is noisy anyway. And
        hidden layers are computed again, because the memory takes longer than the arithmetic.
        """
        on_cpu = jax.default_backend() == "cpu"
        return replace(self, precision=jax.lax.Precision.DEFAULT, recomputes=not on_cpu)

    def with_outputs(self, chosen: slice) -> "Network":
        """The network with only some of its outputs."""
        weights = (*self.weights[:-1], self.weights[-1][:, chosen])
        return replace(self, weights=weights, biases=(*self.biases[:-1], self.biases[-1][chosen]))

    def with_first_layer(self, change: Callable[["FirstLayer"], "FirstLayer"]) -> "Network":
        """The network with another first layer, as a function of its weights and biases."""
        weight, bias = change((self.weights[0], self.biases[0]))
        weights, biases = (weight, *self.weights[1:]), (bias, *self.biases[1:])
        return replace(self, weights=weights, biases=biases)


def normalize(x: Float[Array, "*k width"]) -> Float[Array, "*k width"]:
    """Layer norm (Ba et al., 2016) without a learned scale and offset: mean 0, variance 1."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + SMALLEST_VARIANCE)


def init_xavier(
    key: PRNGKeyArray, sizes: tuple[int, ...], activation: Activation = tanh
) -> Network:
    """A network of these layer widths with Xavier uniform weights and zero biases."""
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


def parameter_count(sizes: tuple[int, ...]) -> int:
    """The number of parameters of a network of these layer widths."""
    return sum((inputs + 1) * outputs for inputs, outputs in itertools.pairwise(sizes))


def network_from_flat(
    params: Float[Array, " p"],
    sizes: tuple[int, ...],
    activation: Activation = tanh,
    layer_norm: bool = False,
) -> Network:
    """The network with the first parameters of a flat vector: all weights, then all biases."""
    shapes = [*itertools.pairwise(sizes), *((width,) for width in sizes[1:])]
    ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
    pieces = jnp.split(params[: parameter_count(sizes)], ends[:-1])
    arrays = [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
    layers = len(sizes) - 1
    return Network(tuple(arrays[:layers]), tuple(arrays[layers:]), activation, layer_norm)


def flat_network(network: Network) -> Float[Array, " p"]:
    """The inverse of `network_from_flat`."""
    return ravel_pytree(network)[0]


MOST_FORWARD = 3
"""States with at most this many coordinates use third derivatives: 20 columns for 3, 35 for 4."""


class StateValue(ValueFunction):
    """The state value of a Q network."""

    network: Network

    def __call__(self, state: Float[Array, " n"]) -> Float[Array, ""]:
        """V(s) = max_a Q(s, a)."""
        return self.network(state).max()

    def derivatives(self, state: Float[Array, " n"]) -> Derivatives:
        """V, ∇V and H_V at a state of shape (n,); if actions tie, those of the first one."""
        n = state.shape[0]
        value, first, second = self._pushed(state, order=2)
        return Derivatives(value[0], first, second[_places(n, 2)])

    def slopes(
        self,
        state: Float[Array, " n"],
        gradient_weight: float | Float[Array, ""],
        hessian_weight: float | Float[Array, ""],
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """∇g and ∇V at a state, with g = η₁‖∇V‖² + η₂‖H_V‖²_F."""
        n = state.shape[0]
        if n > MOST_FORWARD:
            # Probes along every coordinate make the estimate exact; for 11 coordinates that costs
            # a sixth of a reverse pass through `derivatives` (benchmarks/hessian.py).
            probes = jnp.sqrt(n) * jnp.eye(n)
            return stochastic_slopes(self, state, gradient_weight, hessian_weight, probes)
        _, first, second, third = self._pushed(state, order=3)
        hessian, thirds = second[_places(n, 2)], third[_places(n, 3)]
        by_gradient = 2 * gradient_weight * unrolled.total(first * hessian)
        by_hessian = 2 * hessian_weight * unrolled.total(unrolled.total(hessian * thirds))
        return by_gradient + by_hessian, first

    def _pushed(self, state: Float[Array, " n"], order: int) -> list[Float[Array, " _"]]:
        """V and its distinct partial derivatives up to `order`, in the order of `_indices`."""
        weights, biases = self.network.weights, self.network.biases
        n = state.shape[0]
        indices = [_indices(n, degree) for degree in range(1, order + 1)]
        sizes = [1, *(len(index) for index in indices)]
        # The input is linear in itself: its first derivatives are the rows of the first matrix.
        # A sum over few coordinates instead of a product fuses with the next operation.
        first = sum((state[i] * weights[0][i] for i in range(n)), biases[0])
        linear = [first[None], weights[0]]
        parts = self._hidden(linear, n, order)
        for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
            columns = _product(jnp.concatenate(parts), weight)
            linear = jnp.split(columns, np.cumsum(sizes)[:-1])
            linear[0] = linear[0] + bias
            parts = self._hidden(linear, n, order)
        columns = _product(jnp.concatenate(parts), weights[-1])
        action = unrolled.argmax(columns[0] + biases[-1])
        values = jnp.split(columns[:, action], np.cumsum(sizes)[:-1])
        values[0] = values[0] + biases[-1][action]
        return values

    def _hidden(
        self, linear: list[Float[Array, "_ o"]], n: int, order: int
    ) -> list[Float[Array, "_ o"]]:
        """The derivatives of a hidden layer from those of its linear part."""
        if self.network.layer_norm:
            linear = _normalized(linear, n, order)
        activation = self.network.activation
        derivatives = DERIVATIVES[activation]
        return _through(activation, derivatives, linear, n, order)


def _through(
    function: Activation,
    derivatives_of: ActivationDerivatives,
    linear: list[Float[Array, "_ o"]],
    n: int,
    order: int,
) -> list[Float[Array, "_ o"]]:
    """The chain rule: the derivatives of f(p) from those of p, for a function f of one number.

    Derivatives that `linear` does not contain are zero.
    """
    value = function(linear[0])
    derivatives = derivatives_of(linear[0], value)
    slope, bend = next(derivatives), next(derivatives)
    first = linear[1]
    i, j = _indices(n, 2).T
    second = bend * first[i] * first[j]
    if len(linear) > 2:
        second = second + slope * linear[2]
    if order == 2:
        return [value, slope * first, second]
    i, j, k = _indices(n, 3).T
    third = next(derivatives) * first[i] * first[j] * first[k]
    if len(linear) > 2:
        pair = _places(n, 2)
        bent = linear[2][pair[i, j]] * first[k] + linear[2][pair[i, k]] * first[j]
        bent = bent + linear[2][pair[j, k]] * first[i]
        third = third + slope * linear[3] + bend * bent
    return [value, slope * first, second, third]


def _normalized(linear: list[Float[Array, "_ o"]], n: int, order: int) -> list[Float[Array, "_ o"]]:
    """The derivatives of `normalize`: c (v + ε)^(-1/2), with the centred c and v = mean(c²)."""
    missing = [jnp.zeros((len(_indices(n, k)), linear[0].shape[1])) for k in range(1, order + 1)]
    parts = [*linear, *missing[len(linear) - 1 :]]
    centred = [part - part.mean(-1, keepdims=True) for part in parts]
    variance = [part.mean(-1, keepdims=True) for part in _multiplied(centred, centred, n, order)]
    variance[0] = variance[0] + SMALLEST_VARIANCE
    return _multiplied(centred, _through(jax.lax.rsqrt, _of_rsqrt, variance, n, order), n, order)


def _of_rsqrt(p: Numbers, value: Numbers) -> Iterator[Numbers]:
    yield -value / (2 * p)
    yield 3 * value / (4 * p**2)
    yield -15 * value / (8 * p**3)


def _multiplied(
    one: list[Float[Array, "_ _"]], other: list[Float[Array, "_ _"]], n: int, order: int
) -> list[Float[Array, "_ _"]]:
    """The product rule: the derivatives of a product from those of its factors."""
    parts = [one[0] * other[0], one[0] * other[1] + one[1] * other[0]]
    i, j = _indices(n, 2).T
    crossed = one[1][i] * other[1][j] + one[1][j] * other[1][i]
    parts.append(one[0] * other[2] + crossed + one[2] * other[0])
    if order == 2:
        return parts
    i, j, k = _indices(n, 3).T
    pair = _places(n, 2)
    third = one[0] * other[3] + one[3] * other[0]
    for a, b, c in ((i, j, k), (j, i, k), (k, i, j)):
        third = third + one[1][a] * other[2][pair[b, c]] + one[2][pair[b, c]] * other[1][a]
    return [*parts, third]


def _indices(n: int, degree: int) -> np.ndarray:
    """The distinct partial derivatives of a degree, one row of coordinates each."""
    return np.array(list(itertools.combinations_with_replacement(range(n), degree)))


def _places(n: int, degree: int) -> np.ndarray:
    """The position in `_indices` of each entry of the symmetric tensor of a degree."""
    rows = {tuple(row): place for place, row in enumerate(_indices(n, degree).tolist())}
    entries = itertools.product(range(n), repeat=degree)
    return np.array([rows[tuple(sorted(entry))] for entry in entries]).reshape((n,) * degree)


def _product(
    rows: Float[Array, "*c i"],
    matrix: Float[Array, "i o"],
    precision: jax.lax.Precision = jax.lax.Precision.HIGHEST,
) -> Float[Array, "*c o"]:
    # Full float32 precision: by default, recent GPUs round the operands to 10 bits.
    return jnp.dot(rows, matrix, precision=precision)
