"""V(s) = max_a Q(s, a) of a tanh network, with its derivatives pushed forward in closed form.

Value, Jacobian and Hessian of every layer travel together as columns of one matrix, so that each
layer is one matrix product with 1 + n + n(n+1)/2 columns. Differentiating the result once more
(for ∇g) then costs one reverse pass; nesting `jax.hessian` in `grad` costs several times as much.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.frequency.local import Derivatives
from freqdyna.learners.network import Network


class StateValue(eqx.Module):
    """The state value of a Q network."""

    network: Network

    def __call__(self, state: Float[Array, " n"]) -> Float[Array, ""]:
        """V(s) = max_a Q(s, a)."""
        return self.network(state).max()

    def derivatives(self, state: Float[Array, " n"]) -> Derivatives:
        """V, ∇V and H_V at `state`; where two actions tie, those of the first."""
        n = state.shape[0]
        row, column = np.triu_indices(n)
        # Columns: the value, n first derivatives, and the upper triangle of the Hessian.
        columns = jnp.concatenate(
            [state[None], jnp.eye(n, dtype=state.dtype), jnp.zeros((len(row), n), state.dtype)]
        )
        weights, biases = self.network.weights, self.network.biases
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            columns = _product(columns, weight)
            value = jnp.tanh(columns[0] + bias)
            slope = 1 - value**2
            first, second = columns[1 : n + 1], columns[n + 1 :]
            bend = -2 * value * slope  # tanh''
            columns = jnp.concatenate(
                [value[None], slope * first, slope * second + bend * first[row] * first[column]]
            )
        columns = _product(columns, weights[-1])
        action = jnp.argmax(columns[0] + biases[-1])
        chosen = columns[:, action]
        upper = jnp.zeros((n, n), state.dtype).at[row, column].set(chosen[n + 1 :])
        hessian = upper + jnp.triu(upper, 1).T
        return Derivatives(chosen[0] + biases[-1][action], chosen[1 : n + 1], hessian)


def _product(columns: Float[Array, "c i"], weight: Float[Array, "i o"]) -> Float[Array, "c o"]:
    return jnp.dot(columns, weight, precision=jax.lax.Precision.HIGHEST)
