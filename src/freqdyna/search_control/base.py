"""The interface of a search-control: from a value function to states to plan from."""

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from freqdyna.config import Component
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import Registry, require_shapes
from freqdyna.envs.space import Space
from freqdyna.envs.space import State as State
from freqdyna.search_control.search import Search as Search


class ClimbPath(eqx.Module):
    """The states of all climbs of a search, one per iteration."""

    states: Float[Array, "limit n"]
    climbs: Int[Array, " limit"]
    """The index of the climb that the state belongs to; −1 where there is no state."""
    rules: Int[Array, " limit"]
    """Which of the search-control's directions that climb follows."""


class Proposal(eqx.Module):
    """The states that a search-control proposes, and statistics of its search."""

    states: Float[Array, "m n"]
    count: Int[Array, ""]
    """Only the first `count` states are valid."""
    iterations: Int[Array, ""]
    """The number of climbing steps."""
    restarts: Int[Array, ""]
    """The number of climbs after the first."""
    vanished: Int[Array, ""]
    """Steps whose direction was zero or not finite, so that only noise moved the state."""
    by_rule: Int[Array, "rules 2"] | None = None
    """The iterations and the vanished steps of each of `SearchControl.climb_rules`."""
    path: ClimbPath | None = None
    """Recorded for snapshots only, see `HillClimb.traced`."""
    actions: Shaped[Array, "m ..."] | None = None
    """The action to plan with at each state, shape (m,) if discrete and (m, a) if continuous; see
    `SearchControl.proposes_actions`."""
    memory: Any = None
    """What `search.memory` is at the next step; see `SearchControl.init`."""

    def proposed(self) -> Bool[Array, " m"]:
        """Which states are proposed: the first `count`."""
        return jnp.arange(self.states.shape[0]) < self.count

    def finite(self) -> Bool[Array, " m"]:
        """Which proposed states are finite."""
        return self.proposed() & jnp.isfinite(self.states).all(axis=1)

    def stored(self, space: Space) -> Bool[Array, " m"]:
        """Which states the queue stores: those that are finite and, in pairs, have an action."""
        if self.actions is None:
            return self.finite()
        if space.num_actions:
            return self.finite() & (self.actions >= 0) & (self.actions < space.num_actions)
        low, high = space.action_low, space.action_high
        return self.finite() & ((self.actions >= low) & (self.actions <= high)).all(axis=1)

    @staticmethod
    def of(
        states: Float[Array, "m n"],
        count: Int[Array, ""] | None = None,
        actions: Shaped[Array, "m ..."] | None = None,
        memory: Any = None,
    ) -> "Proposal":
        """A proposal of states, without climbing.

        Args:
            states: Shape (m, n).
            count: How many of them, from the first, are valid; all if None.
            actions: The action to plan with at each state, shape (m,) or (m, a); if None, planning
                chooses it.
            memory: The memory of the search-control after this step.

        """
        none = jnp.zeros((), int)
        # What is not an array is refused after `propose`, like all that it should not return.
        rows = next(iter(getattr(states, "shape", ())), 0)
        valid = jnp.asarray(rows) if count is None else count
        return Proposal(states, valid, none, none, none, actions=actions, memory=memory)


SNAPSHOT_NAMES = (
    *("parameters", "replay", "queue", "queue_count", "bounds", "value", "frequency", "policy"),
    *("climb_states", "climb_numbers", "climb_rules"),
)
"""What the agent itself records in snapshots."""


class SearchControl(Component, eqx.Module):
    """The base class of search-control strategies; a subclass implements `propose`.

    Its fields with a default are its settings: `step_size: float = 0.1` is set by
    `train(search_control=Mine(step_size=0.2))` or `--search-control.step-size 0.2`.
    """

    proposes_actions: ClassVar[bool] = False
    """Whether `propose` returns state-action pairs: planning then takes the proposed actions."""
    takes_derivatives: ClassVar[bool] = True
    """Whether `propose` may differentiate the value; if not, other options compile it for a GPU."""
    climb_rules: ClassVar[tuple[str, ...]] = ()
    """What climbs follow, if there is more than one such rule: each rule NAME has a metric
    `climb_vanished_NAME`, which `Proposal.by_rule` counts."""

    @abc.abstractmethod
    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Find states to add to the search-control queue at this step, for one seed.

        Args:
            search: The value function, the state space and the buffers of the seed.
            key: A random key; all randomness must come from it.

        Returns:
            States of shape (m, n), where m is the same at every step. They should be finite and
            inside the state space: others are counted and reported, and states that are not finite
            are not stored. Neither are states with an action that does not exist.

        """

    def init(self, space: Space, key: PRNGKeyArray) -> Any:
        """The memory before the first step; override this if the strategy has one.

        Args:
            space: The state and action space, whose bounds may be infinite.
            key: A random key.

        Returns:
            Any pytree of arrays. `propose` finds it as `search.memory` and must return the next one
            as `Proposal.memory`, with the same shapes and types. It is saved and resumed like the
            rest of the agent.

        """
        return None

    def snapshot(self, memory: Any) -> dict[str, Array]:
        """What a snapshot records of the memory: arrays by name; nothing by default."""
        return {}


def check_proposal(control: SearchControl, returned: object, space: Space, memory: Any) -> Proposal:
    """The proposal, if it has the arrays that the search-control must return."""
    method = f"{type(control).__name__}.propose"
    if not isinstance(returned, Proposal):
        raise FreqdynaError(f"{method} returned {type(returned).__name__}; it must be a Proposal")
    proposal: Proposal = jax.tree.map(jnp.asarray, returned)
    rows = next(iter(getattr(proposal.states, "shape", ())), 0)
    by_action = (rows,) if space.num_actions else (rows, space.action_size)
    number = jnp.zeros((), int)
    wanted = {
        "states": jnp.zeros((rows, space.observation_size)),
        **dict.fromkeys(("count", "iterations", "restarts", "vanished"), number),
        "actions": jnp.zeros(by_action, int if space.num_actions else float)
        if control.proposes_actions
        else None,
        "memory": memory,
    }
    if proposal.by_rule is not None:
        wanted["by_rule"] = jnp.zeros((len(control.climb_rules), 2), int)
    for part, value in wanted.items():
        require_shapes(f"{method} returned {part}", getattr(proposal, part), value)
    return proposal


def check_snapshot(control: SearchControl, recorded: Any) -> dict[str, Array]:
    """What a search-control records in snapshots, if it is arrays by new names."""
    if not isinstance(recorded, dict) or not set(recorded).isdisjoint(SNAPSHOT_NAMES):
        raise FreqdynaError(
            f"{type(control).__name__}.snapshot returned {recorded!r}; it must be a dictionary of "
            f"arrays whose names are not among {', '.join(SNAPSHOT_NAMES)}"
        )
    return {str(name): jnp.asarray(value) for name, value in recorded.items()}


SEARCH_CONTROLS: Registry[SearchControl] = Registry("search_control", SearchControl)
"""Every search-control that is known by a name, in the order of registration."""
register = SEARCH_CONTROLS.register
