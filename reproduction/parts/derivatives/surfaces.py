"""V, ‖∇V‖ and ‖H_V‖ of stored networks on a grid over the state space."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna import envs
from freqdyna.agents.networks.mlp import network_from_flat
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.agents.snapshot import RESOLUTION, axes
from reproduction.base import Stored


@dataclass(frozen=True)
class Surfaces:
    """Numbers at all points of the grid, each of shape (seeds, points)."""

    value: np.ndarray
    gradient: np.ndarray
    """‖∇V‖."""
    hessian: np.ndarray
    """‖H_V‖_F."""
    scaled_hessian: np.ndarray
    """The same for states scaled to [0, 1] and V divided by its range over the grid."""

    @property
    def frequency(self) -> np.ndarray:
        """G = ‖∇V‖² + ‖H_V‖²_F."""
        return self.gradient**2 + self.hessian**2


def surfaces(stored: Stored, seeds: np.ndarray) -> Surfaces:
    """The surfaces of some seeds of a unit of `bandwidth.units.learned`.

    Args:
        stored: The unit.
        seeds: Which seeds, shape (seeds,).

    """
    env = envs.make(stored.settings["env"])
    sizes = (env.observation_size, *stored.settings["hidden"], env.num_actions)
    grid = np.stack(np.meshgrid(*axes(env, (RESOLUTION,) * 2), indexing="ij"), axis=-1)
    width = jnp.asarray(env.high - env.low)
    columns = stored.columns

    def at(
        params: Float[Array, " p"], state: Float[Array, " 2"]
    ) -> tuple[Array, Array, Array, Array]:
        found = StateValue(network_from_flat(params, sizes)).derivatives(state)
        scaled = found.hessian * width * width[:, None]
        norms = (jnp.linalg.norm(one) for one in (found.gradient, found.hessian, scaled))
        return found.value, *norms

    over_grid = jax.jit(jax.vmap(at, in_axes=(None, 0)))
    points = jnp.asarray(grid.reshape(-1, 2), jnp.float32)
    found = [
        over_grid(jnp.asarray(columns["parameter"][columns["seed"] == seed]), points)
        for seed in seeds
    ]
    value, gradient, hessian, scaled = (
        np.stack([np.asarray(one, np.float64) for one in of]) for of in zip(*found, strict=True)
    )
    return Surfaces(value, gradient, hessian, scaled / np.ptp(value, axis=1, keepdims=True))
