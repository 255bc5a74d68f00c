"""Whether a user's model keeps the contract of `Model`: traced once, before anything is trained."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp

from freqdyna.agents.models.base import Model, NoDisagreementError
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.user_code import failure_of
from freqdyna.envs.space import Action, Space
from freqdyna.envs.transition import Transition


def check_model(model: Model[Any], space: Space) -> None:
    """Trace every method that a training calls, and check what it returns.

    The methods of what `with_scale` returns are traced, too.

    Args:
        model: The model.
        space: The environment, or only its space.

    Raises:
        FreqdynaError: If a method fails or returns something else than it must; the message has
            the file and the line.

    """
    kind = type(model)
    told = f"model is '{kind.__module__}:{kind.__qualname__}'"
    for name in ("noise_size", "learn_batch"):
        size = getattr(model, name)
        if type(size) is not int or size < 0:
            raise FreqdynaError(
                f"{told}, whose {name} is {size!r}; it must be an integer, 0 or greater"
            )

    def trace(key: jax.Array) -> None:
        state = _checked(model, told, "init", _check_state, key)
        centre, half = jnp.zeros(space.observation_size), jnp.ones(space.observation_size)
        scaled = _checked(model, told, "with_scale", _check_is_model, centre, half)
        _trace_methods(model, told, state, space)
        if scaled is not model:
            _trace_methods(scaled, f"{told}, whose with_scale returns another", state, space)

    jax.eval_shape(trace, jax.random.key(0))


def require_disagreement(model: Model[Any], space: Space) -> None:
    """Raise `NoDisagreementError` if a model is not an ensemble; nothing is computed.

    Args:
        model: The model.
        space: The environment, or only its space.

    """
    s, action = jnp.zeros(space.observation_size), _some_action(space)
    jax.eval_shape(lambda key: model.disagreement(model.init(key), s, action), jax.random.key(0))


def _trace_methods(model: Model[Any], told: str, state: Any, space: Space) -> None:
    """Trace the methods that are called at every step.

    Args:
        model: The model, or what its `with_scale` returned.
        told: What names it in messages.
        state: What its `init` returned.
        space: The environment, or only its space.

    """
    s, noise = jnp.zeros(space.observation_size), jnp.zeros(model.noise_size)
    action = _some_action(space)

    def check_outcome(outcome: Any) -> None:
        _check_outcome(outcome, space.observation_size)

    _checked(model, told, "query", check_outcome, state, s, action, noise)
    if type(model).disagreement is not Model.disagreement:
        with suppress(NoDisagreementError):  # as that of a model inside it
            _checked(model, told, "disagreement", _check_number, state, s, action)
    if not model.learn_batch:
        return
    seen = Transition(s, action, jnp.zeros(()), s, jnp.zeros((), bool))
    batch = jax.tree.map(lambda x: jnp.stack([x] * model.learn_batch), seen)
    _checked(model, told, "learn", lambda after: _check_learned(state, after), state, batch)
    _checked(model, told, "error", _check_number, state, seen, space)


def _some_action(space: Space) -> Action:
    return jnp.zeros((), int) if space.num_actions else jnp.zeros(space.action_size)


def _checked(
    model: Model[Any], told: str, method: str, check: Callable[[Any], None], *arguments: Any
) -> Any:
    """What a method returns, if it does not fail and passes a check."""
    try:
        found = getattr(model, method)(*arguments)
        check(found)
    except NoDisagreementError:
        raise
    except (Exception, SystemExit) as error:
        failed = failure_of(error, type(model), method)
        raise FreqdynaError(f"{told}, which fails in {failed}") from error
    return found


def _check_is_model(scaled: Any) -> None:
    if not isinstance(scaled, Model):
        raise FreqdynaError(f"it returned {_kind(scaled)}; it must be a Model")


def _check_state(state: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        if not isinstance(leaf, jax.Array):
            raise FreqdynaError(
                f"it returned {type(leaf).__name__}{jax.tree_util.keystr(path)}; the state must "
                "consist of JAX arrays"
            )


def _check_outcome(outcome: Any, n: int) -> None:
    if not isinstance(outcome, tuple) or len(outcome) != 3:
        raise FreqdynaError(
            f"it returned {_kind(outcome)}; it must be a tuple of next state, reward and terminal"
        )
    wanted = (
        ("next state", (n,), jnp.floating, "floats"),
        ("reward", (), jnp.floating, "floats"),
        ("terminal flag", (), jnp.bool_, "Booleans"),
    )
    for found, (name, shape, kind, words) in zip(outcome, wanted, strict=True):
        if not (_is_array(found, shape) and jnp.issubdtype(found.dtype, kind)):
            raise FreqdynaError(
                f"it returned {_kind(found)} as {name}; it must be a JAX array of {words} of shape "
                f"{shape}"
            )


def _check_learned(before: Any, after: Any) -> None:
    old, new = (jax.tree.map(_kind, state) for state in (before, after))
    if old != new:
        raise FreqdynaError(
            f"it returned the state {new}; it must have the structure, shapes and types of the "
            f"state of init, {old}"
        )


def _check_number(number: Any) -> None:
    if not _is_array(number, ()):
        raise FreqdynaError(f"it returned {_kind(number)}; it must be a JAX array of shape ()")


def _is_array(value: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, jax.Array) and value.shape == shape


def _kind(value: Any) -> str:
    """The type of an object; of an array, the type and shape."""
    if isinstance(value, jax.Array):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__
