"""V(s) = max_a Q(s, a) of a network, with derivatives computed forward in closed form.

The value, Jacobian, Hessian and, for states with few coordinates, third derivatives of every layer
are propagated together as columns of one matrix, so that each layer is one matrix product. For the
2 coordinates of the paper's environments that makes 10 columns and needs no reverse pass for ∇g;
nesting `jax.hessian` in `grad` costs several times as much.
"""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.agents.networks.activations import DERIVATIVES, Activation
from freqdyna.agents.networks.mlp import Network
from freqdyna.core import unrolled
from freqdyna.frequency import Derivatives, stochastic_slopes

MOST_FORWARD = 3
"""States with at most this many coordinates use third derivatives: 20 columns for 3, 35 for 4."""


class StateValue(eqx.Module):
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
        """∇g and ∇V at a state, with g = η₁‖∇V‖² + η₂‖H_V‖²_F.

        Args:
            state: Shape (n,).
            gradient_weight: η₁.
            hessian_weight: η₂.

        Returns:
            Both gradients, each of shape (n,).

        """
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
        activation = self.network.activation
        n = state.shape[0]
        indices = [_indices(n, degree) for degree in range(1, order + 1)]
        sizes = [1, *(len(index) for index in indices)]
        # The input is linear in itself: its first derivatives are the rows of the first matrix.
        # A sum over few coordinates instead of a product fuses with the next operation.
        first = sum((state[i] * weights[0][i] for i in range(n)), biases[0])
        linear = [first[None], weights[0]]
        parts = _through(activation, linear, n, order)
        for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
            columns = _product(jnp.concatenate(parts), weight)
            linear = jnp.split(columns, np.cumsum(sizes)[:-1])
            linear[0] = linear[0] + bias
            parts = _through(activation, linear, n, order)
        columns = _product(jnp.concatenate(parts), weights[-1])
        action = unrolled.argmax(columns[0] + biases[-1])
        values = jnp.split(columns[:, action], np.cumsum(sizes)[:-1])
        values[0] = values[0] + biases[-1][action]
        return values


def _through(
    activation: Activation, linear: list[Float[Array, "_ o"]], n: int, order: int
) -> list[Float[Array, "_ o"]]:
    """The chain rule: the derivatives of f(p) from those of p, for an activation f.

    Derivatives that `linear` does not contain are zero.
    """
    value = activation(linear[0])
    derivatives = DERIVATIVES[activation](linear[0], value)
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


def _indices(n: int, degree: int) -> np.ndarray:
    """The distinct partial derivatives of a degree, one row of coordinates each."""
    return np.array(list(itertools.combinations_with_replacement(range(n), degree)))


def _places(n: int, degree: int) -> np.ndarray:
    """The position in `_indices` of each entry of the symmetric tensor of a degree."""
    rows = {tuple(row): place for place, row in enumerate(_indices(n, degree).tolist())}
    entries = itertools.product(range(n), repeat=degree)
    return np.array([rows[tuple(sorted(entry))] for entry in entries]).reshape((n,) * degree)


def _product(columns: Float[Array, "c i"], weight: Float[Array, "i o"]) -> Float[Array, "c o"]:
    return jnp.dot(columns, weight, precision=jax.lax.Precision.HIGHEST)
