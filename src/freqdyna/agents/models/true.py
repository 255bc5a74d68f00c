"""The true model: the environment itself, compiled or stepped in Python.

An environment of Gymnasium may provide one, as the method `simulate(states, actions)` of the
unwrapped environment. It takes states of shape (k, n), in the form of observations, and actions of
shape (k,), or (k, a) if they are continuous. It returns next states (k, n), rewards (k,) and
whether each next state is terminal (k,).
"""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.core.errors import FreqdynaError, note_where
from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action, Factory, Space


class _True(Model[None]):
    """A model that has the environment itself: nothing in it is unknown."""

    knows_state_space: ClassVar[bool] = True
    knows_termination: ClassVar[bool] = True


class TrueModel(_True):
    """The environment's own transition function."""

    env: Environment | None = None
    """The environment, see `bind`."""

    def bind(self, space: Space) -> "TrueModel":
        """The model of a compiled environment; see `Model.bind`."""
        assert isinstance(space, Environment)
        return TrueModel(space)

    @property
    def noise_size(self) -> int:
        """One number for the reward, plus those of the environment."""
        assert self.env is not None
        return 1 + self.env.noise_size

    @property
    def is_always_finite(self) -> bool:
        """Yes for built-in environments; a user's own may return anything where it never was."""
        return type(self.env).__module__.startswith("freqdyna.envs.")

    def query(
        self,
        state: None,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """A transition of the environment; see `Model.query`."""
        assert self.env is not None
        return self.env.transition_from_noise(s, action, noise)


Simulate = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class HostModel(_True):
    """Calls the environment, which draws its own random numbers, from within the compiled step."""

    ask: Simulate = eqx.field(static=True)
    """`simulate` for batches of any shape, with scaled states and actions of the agent."""

    def query(
        self, state: None, s: Float[Array, " n"], action: Action, noise: Float[Array, " 0"]
    ) -> Outcome:
        """The outcome according to the environment; see `Model.query`."""
        shapes = (
            jax.ShapeDtypeStruct(s.shape, jnp.float32),
            jax.ShapeDtypeStruct((), jnp.float32),
            jax.ShapeDtypeStruct((), jnp.bool_),
        )
        return jax.pure_callback(self.ask, shapes, s, action, vmap_method="broadcast_all")


def host_model(factory: Factory, space: Space) -> HostModel:
    """The true model of a Gymnasium environment."""
    from gymnasium import spaces  # compiled environments do not need it

    from freqdyna.envs.gym import HostSpace, make_env

    assert isinstance(space, HostSpace)
    env = make_env(factory)
    simulate = getattr(env.unwrapped, "simulate", None)
    if not callable(simulate):
        raise FreqdynaError(
            f"model is 'true', but {space.name!r} has no method `simulate(states, actions)`; "
            "use model 'learned'"
        )

    def ask(states: Any, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        states, actions = np.asarray(states), np.asarray(actions)
        batch, n = states.shape[:-1], states.shape[-1]
        if isinstance(space.action_space, spaces.Discrete):
            actions = actions.reshape(-1) + int(space.action_space.start)
        else:
            actions = actions.reshape(-1, space.action_size)
        outcomes = simulate(states.reshape(-1, n), actions)
        next_states, rewards, terminals = map(np.asarray, outcomes)
        k = len(actions)
        for name, array, shape in (
            ("next states", next_states, (k, n)),
            ("rewards", rewards, (k,)),
            ("terminal flags", terminals, (k,)),
        ):
            if array.shape != shape:  # NumPy would broadcast some others
                raise FreqdynaError(
                    f"simulate of {space.name!r} returned {name} of shape {array.shape} for states "
                    f"of shape {(k, n)}; it must be {shape}"
                )
        return (
            next_states.astype(np.float32).reshape(*batch, n),
            rewards.astype(np.float32).reshape(batch),
            terminals.astype(bool).reshape(batch),
        )

    with note_where(
        f"simulate(states, actions) of {space.name!r} must return next states of shape (k, n), and "
        "rewards and terminal flags of shape (k,)"
    ):
        ask(np.asarray(env.reset(seed=0)[0], np.float32), space.random_action())
    return HostModel(ask)
