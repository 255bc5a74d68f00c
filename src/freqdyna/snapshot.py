"""What a snapshot shows of a learned value: surfaces over a two-dimensional state space."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from freqdyna.envs.space import Space
from freqdyna.frequency.network import StateValue

STATES = 2000
"""States drawn from the replay and from the queue."""
RESOLUTION = 64
"""Points of a surface along each coordinate, both bounds included."""


def axes(env: Space, shape: tuple[int, ...]) -> list[Shaped[np.ndarray, " _"]]:
    """The values of each coordinate at which a surface of that shape is recorded."""
    return [np.linspace(*ends) for ends in zip(env.low, env.high, shape, strict=True)]


def surfaces(value: StateValue, env: Space) -> dict[str, Float[Array, "points points"]]:
    """V and g = ‖∇V‖² + ‖H_V‖²_F; the first index follows the first coordinate.

    Nothing where the state has more or fewer than two coordinates.
    """
    if env.observation_size != 2 or not env.is_bounded:
        return {}
    coordinates = map(jnp.asarray, axes(env, (RESOLUTION, RESOLUTION)))
    grid = jnp.stack(jnp.meshgrid(*coordinates, indexing="ij"), axis=-1)

    def at(state: Float[Array, " 2"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        derivatives = value.derivatives(state)
        return derivatives.value, derivatives.frequency()

    # Row by row: a batch of seeds with all points at once would not fit a small machine.
    values, frequencies = jax.lax.map(jax.vmap(at), grid)
    return {"value": values, "frequency": frequencies}
