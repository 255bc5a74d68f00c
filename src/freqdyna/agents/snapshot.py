"""What a snapshot records over a two-dimensional state space: surfaces and climbs."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from freqdyna.agents.networks.state_value import StateValue
from freqdyna.envs.space import Action, Space
from freqdyna.search_control.base import Search, SearchControl
from freqdyna.search_control.climb import HillClimb

STATES = 2000
"""The number of states sampled from the replay buffer and from the queue."""
RESOLUTION = 64
"""Points of a surface along each coordinate, including both bounds."""
SEARCHES = 4
"""The number of searches whose climbs are recorded."""


def axes(env: Space, shape: tuple[int, ...]) -> list[Shaped[np.ndarray, " _"]]:
    """The values of each coordinate at which a surface of this shape is recorded."""
    return [np.linspace(*ends) for ends in zip(env.low, env.high, shape, strict=True)]


def is_drawn(env: Space) -> bool:
    """Whether surfaces and climbs are recorded: the state has two bounded coordinates."""
    return env.observation_size == 2 and env.is_bounded


def surfaces(value: StateValue, env: Space) -> dict[str, Float[Array, "points points"]]:
    """V and g = ‖∇V‖² + ‖H_V‖²_F on a grid; the first index follows the first coordinate.

    Returns:
        "value" and "frequency", each of shape (RESOLUTION, RESOLUTION).

    """

    def at(state: Float[Array, " 2"]) -> dict[str, Float[Array, ""]]:
        derivatives = value.derivatives(state)
        return {"value": derivatives.value, "frequency": derivatives.frequency()}

    return _over_grid(at, env)


def policy(
    act: Callable[[Float[Array, " 2"]], Action], env: Space
) -> dict[str, Shaped[Array, "points points ..."]]:
    """The action at each point of the grid, as "policy".

    Args:
        act: From a state of shape (2,) to an action.
        env: The state space.

    """
    return _over_grid(lambda state: {"policy": act(state)}, env)


def _over_grid(
    function: Callable[[Float[Array, " 2"]], dict[str, Array]], env: Space
) -> dict[str, Shaped[Array, "points points ..."]]:
    coordinates = map(jnp.asarray, axes(env, (RESOLUTION, RESOLUTION)))
    grid = jnp.stack(jnp.meshgrid(*coordinates, indexing="ij"), axis=-1)
    # Row by row: all points of a batch of seeds at once would need too much memory.
    return jax.lax.map(jax.vmap(function), grid)


def climbs(
    search_control: SearchControl, search: Search, key: PRNGKeyArray
) -> dict[str, Float[Array, "searches limit 2"] | Int[Array, "searches limit"]]:
    """The climbs that a search-control with a `HillClimb` would make at this step.

    Returns:
        The fields of a `ClimbPath` for each of SEARCHES searches; empty for other search-controls.

    """
    is_climb = lambda part: isinstance(part, HillClimb)  # noqa: E731
    traced = jax.tree.map(
        lambda part: part.traced() if is_climb(part) else part, search_control, is_leaf=is_climb
    )
    # One after the other, to save memory.
    path = jax.lax.map(lambda k: traced.propose(search, k).path, jax.random.split(key, SEARCHES))
    if path is None:
        return {}
    return {"climb_states": path.states, "climb_numbers": path.climbs, "climb_rules": path.rules}
