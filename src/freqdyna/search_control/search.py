"""What a search-control can use: the value function, the model, the state space and the buffers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from freqdyna.envs.space import Action, Outcome, State, Transition
from freqdyna.frequency import Derivatives, Slopes

Draw = Callable[[UInt32[Array, " k"]], Float[Array, "k n"]]
"""Samples states uniformly from a buffer, one for each word of random bits."""


ActionValue = Callable[..., Float[Array, "*actions"]]
"""Q(s, a): from s to the values of all discrete actions, or from (s, a) to one value."""


@dataclass(frozen=True)
class Search:
    """Everything that a search-control can use, for one seed at one time step."""

    value: Callable[[State], Float[Array, ""]]
    """V(s) = max_a Q(s, a) of the current network."""
    derivatives: Callable[[State], Derivatives]
    """V, its gradient and its Hessian at a state, of the current network."""
    slopes: Slopes
    """From (state, η₁, η₂) to ∇g and ∇V with g = η₁‖∇V‖² + η₂‖H_V‖²_F; a fast implementation for
    climbing g."""
    target_slopes: Slopes
    """The same for the target network."""
    draw_visited: Draw
    draw_queue: Draw
    """What the methods `visited` and `queued` sample with."""
    queue_is_empty: Bool[Array, ""]
    low: Float[Array, " n"]
    high: Float[Array, " n"]
    """The bounds of the state space."""
    contains: Callable[[State], Bool[Array, ""]]
    """Whether a state belongs to the state space."""
    project: Callable[[State], State]
    """The nearest state in the state space."""
    terminal: Callable[[State], Bool[Array, ""]]
    """Whether a state is terminal."""
    covariance: Float[Array, "n n"]
    """Empirical covariance of the visited states (the paper's Σ̂)."""
    mean_step: Float[Array, ""]
    """Running mean of ‖s_{t+1} − s_t‖₂/√n (the paper's ε_a)."""
    q: ActionValue
    """Q of the current network: `q(s)` has shape (num_actions,), `q(s, action)` is one number. With
    continuous actions only the second form exists."""
    target_q: ActionValue
    """The same for the target network."""
    target_value: Callable[[State], Float[Array, ""]]
    """The value of a next state in the targets of the updates."""
    policy: Callable[[State, PRNGKeyArray], Action]
    """The action that planning pairs with a state: greedy, or random with probability
    planning_exploration."""
    outcome: Callable[[State, Action, PRNGKeyArray], Outcome]
    """From (s, a, key) to the next state, the reward and whether the next state is terminal,
    according to the agent's own model."""
    disagreement: Callable[[State, Action], Float[Array, ""]]
    """How much the members of the model disagree about an outcome; an error without an ensemble."""
    draw_transitions: Callable[[UInt32[Array, " k"]], Transition]
    """What the method `transitions` samples with."""
    discount: float | Float[Array, ""]
    num_actions: int
    """The number of discrete actions; 0 if actions are continuous."""
    action_low: np.ndarray
    action_high: np.ndarray
    """The bounds of continuous actions, shape (a,) each; empty if actions are discrete."""
    t: Int[Array, ""]
    """The number of environment steps before this one."""
    memory: Any = None
    """What `SearchControl.init` made or the last `propose` returned; None without memory."""
    iterations_at_once: int = 8
    """How many climbing iterations are unrolled at most, see `ValueFunction`."""
    knows_state_space: bool = True
    """Whether the bounds are those of the state space, rather than of the visited states."""
    on_manifold: Callable[[State], State] = lambda state: state
    """The nearest point of the manifold that states lie on; for most spaces the state itself."""

    def usable(self, s: State) -> Bool[Array, ""]:
        """Whether a state belongs to the state space and is not terminal."""
        return self.contains(s) & ~self.terminal(s)

    def visited(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """Sample states uniformly from the replay buffer (the paper's B).

        Args:
            key: A random key.
            count: The number of states.

        Returns:
            Shape (count, n).

        """
        return self.draw_visited(jax.random.bits(key, (count,), jnp.uint32))

    def queued(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """Sample states uniformly from the search-control queue (B_s), like `visited`.

        While the queue is empty, visited states are returned.
        """
        return self.draw_queue(jax.random.bits(key, (count,), jnp.uint32))

    def transitions(self, key: PRNGKeyArray, count: int) -> Transition:
        """Sample transitions uniformly from the replay buffer.

        Args:
            key: A random key.
            count: The number of transitions.

        Returns:
            A `Transition` whose fields have `count` rows: `state`, `action`, `reward`, `next_state`
            and `terminal`.

        """
        return self.draw_transitions(jax.random.bits(key, (count,), jnp.uint32))

    def td_error(
        self, s: State, key: PRNGKeyArray, action: Action | None = None
    ) -> Float[Array, ""]:
        """The temporal-difference error r + γ V(s') − Q(s, a) of an outcome of the model.

        V(s') is the value in the targets of the updates, times the probability that s' is not
        terminal.

        Args:
            s: A state, shape (n,).
            key: A random key.
            action: The action; if None, the one that planning would take.

        """
        policy_key, outcome_key = jax.random.split(key)
        if action is None:
            action = self.policy(s, policy_key)
        next_state, reward, terminal = self.outcome(s, action, outcome_key)
        target = reward + self.discount * (1 - terminal) * self.target_value(next_state)
        return target - self.q(s, action)
