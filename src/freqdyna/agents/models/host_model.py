"""The true model of an environment that is stepped in Python, if it provides one.

It is the method `simulate(states, actions)` of the unwrapped environment. It takes states of shape
(k, n), in the form of observations, and actions of shape (k,), or (k, a) if they are continuous. It
returns next states (k, n), rewards (k,) and whether each next state is terminal (k,).
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Float

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.core.user_code import user_line
from freqdyna.envs.gym.space import HostSpace, make_env
from freqdyna.envs.space import Action, Factory, Space

Simulate = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class HostModel(Model[None]):
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
    """The true model of a Gymnasium environment.

    Args:
        factory: Creates the environment.
        space: Its space.

    Raises:
        FreqdynaError: If the environment has no method `simulate`, or it fails.

    """
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
        found = simulate(states.reshape(-1, n), actions)
        next_states, rewards, terminals = map(np.asarray, found)
        k = len(actions)
        for name, array, shape in (
            ("next states", next_states, (k, n)),
            ("rewards", rewards, (k,)),
            ("terminal flags", terminals, (k,)),
        ):
            if array.shape != shape:  # NumPy would broadcast some others
                raise FreqdynaError(
                    f"returned {name} of shape {array.shape} for states of shape {(k, n)}; it must "
                    f"be {shape}"
                )
        return (
            next_states.astype(np.float32).reshape(*batch, n),
            rewards.astype(np.float32).reshape(batch),
            terminals.astype(bool).reshape(batch),
        )

    _trace_one_step(ask, space, env)
    return HostModel(_forgiving(ask, space.name))


def _forgiving(ask: Simulate, name: str) -> Simulate:
    """The same function, but an error results in an outcome of NaN.

    Such a transition is counted and not learned from.
    """
    warned: list[str] = []

    def one_by_one(states: np.ndarray, actions: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        for state, action in zip(states, actions, strict=True):
            try:
                yield tuple(map(np.asarray, ask(state, action)))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # also sys.exit, which must not end the run
                if not warned:
                    warned.append(f"simulate of {name!r} {_failure(error)}")
                    warnings.warn(
                        f"{warned[0]}; such transitions are not learned from", stacklevel=2
                    )
                invalid = np.full_like(state, np.nan)
                yield invalid, np.asarray(np.nan, np.float32), np.asarray(False)

    def answer(states: Any, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        try:
            return ask(states, actions)
        except KeyboardInterrupt:
            raise
        except BaseException:
            states, actions = np.asarray(states), np.asarray(actions)
            batch, n = states.shape[:-1], states.shape[-1]
            rows = one_by_one(
                states.reshape(-1, n), actions.reshape(-1, *actions.shape[len(batch) :])
            )
            next_states, rewards, terminals = map(np.stack, zip(*rows, strict=True))
            return (
                next_states.reshape(states.shape),
                rewards.reshape(batch),
                terminals.reshape(batch),
            )

    return answer


def _failure(error: BaseException) -> str:
    """What `simulate` did wrong, with the user's file and line if it raised an error."""
    if isinstance(error, FreqdynaError):
        return str(error)
    return f"raised {one_line(error)}{user_line(error)}"


def _trace_one_step(ask: Simulate, space: HostSpace, env: "gymnasium.Env[Any, Any]") -> None:
    """Call it once here, where errors can be reported clearly; in the compiled step they cannot."""
    try:
        observation = np.asarray(env.reset(seed=0)[0], np.float32)
        next_state, reward, _ = ask(observation, space.random_action())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise FreqdynaError(f"simulate of {space.name!r} {_failure(error)}") from error
    if not (np.isfinite(next_state).all() and np.isfinite(reward).all()):
        raise FreqdynaError(
            f"simulate of {space.name!r} returned a state or a reward that is not finite"
        )
