"""What others see of the agent: searches, snapshots, and the model's error where it plans."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from freqdyna.agents.dyna.planning import Planning
from freqdyna.agents.dyna.state import Buffers, DynaState, Queue
from freqdyna.agents.learners import Learner
from freqdyna.agents.models.base import Model, squared_distance
from freqdyna.core import unrolled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action, Outcome, Space, State, Transition
from freqdyna.frequency import ValueFunction
from freqdyna.search_control.base import Search, SearchControl
from freqdyna.search_control.climb import HillClimb


def search_view(
    env: Space,
    learner: Learner,
    planning: Planning,
    state: DynaState,
    t: Int[Array, ""],
    buffers: Buffers,
) -> Search:
    """The value function, the state space and the buffers of one seed at one time step."""
    queue, visited = state.queue, state.visited
    assert queue is not None
    assert visited is not None
    value = learner.value(state.learner.params)
    target_value = learner.value(state.learner.target_params)
    low, high = jnp.asarray(env.low), jnp.asarray(env.high)
    is_known = planning.model.knows_state_space
    if not is_known:
        low, high = jnp.maximum(low, visited.low), jnp.minimum(high, visited.high)
    elif not env.is_bounded:
        # If the space has no bounds, use those of the visited states.
        low = jnp.where(jnp.isfinite(low), low, visited.low)
        high = jnp.where(jnp.isfinite(high), high, visited.high)

    def contains(s: Float[Array, " n"]) -> Bool[Array, ""]:
        in_range = unrolled.every((s >= low) & (s <= high))
        if not is_known:
            return in_range
        return env.contains(s) if env.is_bounded else env.contains(s) & in_range

    def project(s: Float[Array, " n"]) -> Float[Array, " n"]:
        if not is_known:
            return jnp.clip(s, low, high)
        return env.project(s if env.is_bounded else jnp.clip(s, low, high))

    def terminal(s: Float[Array, " n"]) -> Bool[Array, ""]:
        return env.terminal(s) if planning.model.knows_termination else jnp.zeros((), bool)

    def for_one_state(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, which refuses several states at once: networks would answer anything."""

        def of_one_state(s: Any, *others: Any, **named: Any) -> Any:
            if jnp.shape(s) != env.low.shape:
                raise FreqdynaError(
                    f"search.{name} takes one state of shape {env.low.shape}, not an array of "
                    f"shape {jnp.shape(s)}; use jax.vmap for several"
                )
            return function(s, *others, **named)

        return of_one_state

    def q(params: Float[Array, " p"]) -> Callable[..., Array]:
        def of(s: Float[Array, " n"], action: Action | None = None) -> Array:
            if action is not None:
                return learner.action_value(params, s, action)
            if not env.num_actions:
                raise FreqdynaError("q(s) needs discrete actions; use q(s, action)")
            return learner.network(params)(s)

        return of

    def outcome(s: Float[Array, " n"], action: Action, key: PRNGKeyArray) -> Outcome:
        noise = jax.random.normal(key, (planning.model.noise_size,))
        return planning.model.query(state.model, s, action, noise)

    of_a_state: dict[str, Callable[..., Any]] = {
        "value": value,
        "derivatives": value.derivatives,
        "slopes": value.slopes,
        "target_slopes": target_value.slopes,
        "terminal": terminal,
        "q": q(state.learner.params),
        "target_q": q(state.learner.target_params),
        "target_value": lambda s: learner.bootstrap(state.learner, s[None])[0],
        "policy": lambda s, key: learner.act(state.learner.params, s, planning.exploration, key),
        "outcome": outcome,
        "disagreement": lambda s, action: planning.model.disagreement(state.model, s, action),
    }
    return Search(
        **{name: for_one_state(function, name) for name, function in of_a_state.items()},
        iterations_at_once=value.iterations_at_once,
        draw_visited=buffers.visited,
        draw_queue=buffers.queued,
        queue_is_empty=queue.is_empty(),
        low=low,
        high=high,
        contains=contains,
        project=project,
        on_manifold=env.on_manifold if is_known else lambda s: s,
        covariance=visited.covariance(),
        mean_step=visited.mean_step,
        draw_transitions=buffers.transitions,
        discount=learner.discount,
        num_actions=env.num_actions,
        action_low=env.action_low,
        action_high=env.action_high,
        t=t,
        memory=state.memory,
        knows_state_space=is_known,
    )


ERROR_STATES = 256
"""The number of states at which the error is measured, evenly spaced in the queue."""


def model_error_at_queue(
    model: Model[Any],
    model_state: Any,
    queue: Queue,
    env: Environment,
    act: Callable[[State], Action],
) -> Float[Array, ""]:
    """The error of the model's next states relative to "nothing moves", as in `model_error`.

    Predictions are compared with the environment's own dynamics without noise. Nothing is random,
    so measuring it changes no other number. It is NaN while the queue is empty. `act` chooses the
    action in a state whose action the queue does not store.
    """
    count = jnp.minimum(queue.count, queue.rows.shape[0])
    i = jnp.arange(ERROR_STATES)
    # ⌊i · count / ERROR_STATES⌋, without overflow
    places = i * (count // ERROR_STATES) + i * (count % ERROR_STATES) // ERROR_STATES

    def squared_errors(place: Array) -> Float[Array, " 2"]:
        state = queue.rows[place]
        action = act(state) if queue.actions is None else queue.actions[place]
        outcome = env.transition_from_noise(state, action, jnp.zeros(1 + env.noise_size))
        next_state, reward, terminal = outcome
        seen = Transition(state, action, reward, next_state, terminal)
        change = squared_distance(state, next_state, env)
        return jnp.stack([model.error(model_state, seen, env), change])

    error, change = jax.vmap(squared_errors)(places).sum(0)
    return jnp.where(queue.is_empty(), jnp.nan, jnp.sqrt(error / change))


SNAPSHOT_STATES = 2000
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


def surfaces(value: ValueFunction, env: Space) -> dict[str, Float[Array, "points points"]]:
    """V and g = ‖∇V‖² + ‖H_V‖²_F on a grid; the first index follows the first coordinate."""

    def at(state: Float[Array, " 2"]) -> dict[str, Float[Array, ""]]:
        derivatives = value.derivatives(state)
        return {"value": derivatives.value, "frequency": derivatives.frequency()}

    return over_grid(at, env)


def over_grid(
    function: Callable[[Float[Array, " 2"]], dict[str, Array]], env: Space
) -> dict[str, Shaped[Array, "points points ..."]]:
    """A function of a state at each point of a grid."""
    coordinates = map(jnp.asarray, axes(env, (RESOLUTION, RESOLUTION)))
    grid = jnp.stack(jnp.meshgrid(*coordinates, indexing="ij"), axis=-1)
    # Row by row: all points of a batch of seeds at once would need too much memory.
    return jax.lax.map(jax.vmap(function), grid)


def climbs(
    search_control: SearchControl, search: Search, key: PRNGKeyArray
) -> dict[str, Float[Array, "searches limit 2"] | Int[Array, "searches limit"]]:
    """The climbs of SEARCHES searches at this step; only a `HillClimb` has some."""
    is_climb = lambda part: isinstance(part, HillClimb)  # noqa: E731
    traced = jax.tree.map(
        lambda part: part.traced() if is_climb(part) else part, search_control, is_leaf=is_climb
    )
    # One after the other, to save memory.
    path = jax.lax.map(lambda k: traced.propose(search, k).path, jax.random.split(key, SEARCHES))
    if path is None:
        return {}
    return {"climb_states": path.states, "climb_numbers": path.climbs, "climb_rules": path.rules}
