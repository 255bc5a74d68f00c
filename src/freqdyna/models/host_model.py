"""The true model of an environment that is stepped in Python, if it offers one.

It does so by a method `simulate(states, actions)` of the unwrapped environment: from states of
shape (k, n), as it returns them as observations, and actions of shape (k,), or (k, a) where they
are continuous, to next states (k, n), rewards (k,) and whether each next state is terminal (k,).
"""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.envs.host_space import Factory, HostSpace, made
from freqdyna.envs.space import Action
from freqdyna.errors import FreqdynaError
from freqdyna.models.base import Model, Outcome

Simulate = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class HostModel(Model[None]):
    """Asks the environment, from within the compiled step."""

    learn_batch: ClassVar[int] = 0
    space: HostSpace
    simulate: Simulate = eqx.field(static=True)

    @property
    def noise_size(self) -> int:
        """None: the environment draws its own."""
        return 0

    def init(self, key: PRNGKeyArray) -> None:
        """Nothing to keep."""

    def query(
        self, state: None, s: Float[Array, " n"], action: Action, noise: Float[Array, " 0"]
    ) -> Outcome:
        """What the environment says."""
        shapes = (
            jax.ShapeDtypeStruct(s.shape, jnp.float32),
            jax.ShapeDtypeStruct((), jnp.float32),
            jax.ShapeDtypeStruct((), jnp.bool_),
        )
        return jax.pure_callback(self._ask, shapes, s, action, vmap_method="broadcast_all")

    def learn(self, state: None, rows: Float[Array, "batch width"]) -> None:
        """Nothing to learn."""

    def _ask(self, states: Any, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All of a batch, of whatever shape, at once."""
        states, actions = np.asarray(states), np.asarray(actions)
        batch, n = states.shape[:-1], states.shape[-1]
        asked = actions.reshape(-1, *(() if self.space.num_actions else actions.shape[-1:]))
        if self.space.num_actions:
            asked = asked + int(self.space.action_space.start)  # type: ignore[union-attr]
        scaling = self.space.scaling
        found = self.simulate(scaling.inverse(states.reshape(-1, n)), asked)
        next_states, rewards, terminals = map(np.asarray, found)
        return (
            scaling(next_states).reshape(*batch, n),
            rewards.astype(np.float32).reshape(batch),
            terminals.astype(bool).reshape(batch),
        )


def host_model(factory: Factory, space: HostSpace) -> HostModel:
    """The model that the environment offers; one that offers none is refused."""
    simulate = getattr(made(factory).unwrapped, "simulate", None)
    if not callable(simulate):
        raise FreqdynaError(
            f"model is 'true', but {space.name!r} has no method `simulate(states, actions)`; "
            "take model 'learned'"
        )
    return HostModel(space, simulate)
