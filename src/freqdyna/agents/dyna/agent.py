"""The Dyna agent: the paper's Algorithm 1, to be read from top to bottom.

Everything here is written for one seed. A step is a pure function of the agent's state and the
time t; all random numbers come from the seed's key folded with t, so a seed does not depend on
which other seeds run with it. Without a search-control the same step is DQN with replay.

`step` takes a complete step in a compiled environment. `choose` and `observe` are its two halves,
for an environment that is stepped in Python between them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from freqdyna.agents.dyna.diagnostics import Diagnostics
from freqdyna.agents.dyna.planning import (
    Planning,
    Progress,
    Simulation,
    check_prediction,
    imagine,
    learn_model,
    predict,
    update,
)
from freqdyna.agents.dyna.scale import ObservationScale
from freqdyna.agents.dyna.state import Buffers, Burst, DynaState, Experience, Visited
from freqdyna.agents.dyna.view import (
    SNAPSHOT_STATES,
    climbs,
    is_drawn,
    model_error_at_queue,
    over_grid,
    search_view,
    surfaces,
)
from freqdyna.agents.learners import Learner, Planned
from freqdyna.agents.replay import ReplayBuffer, uniform_indices
from freqdyna.agents.trust import OF_EVERY_RUN
from freqdyna.config import Component, Count, CountOrZero, Share
from freqdyna.core.errors import FreqdynaError, note_where
from freqdyna.core.unrolled import repeat
from freqdyna.envs.base import Environment
from freqdyna.envs.space import Action, Space, Transition, row_width
from freqdyna.search_control.base import Proposal, Search, check_proposal, check_snapshot


def linear_schedule(
    start: float | Float[Array, ""],
    end: float | Float[Array, ""],
    steps: int,
    t: Int[Array, ""],
) -> float | Float[Array, ""]:
    """A number that changes linearly from `start` to `end` in the first `steps` steps, after t."""
    if steps == 0:
        return end
    return end + jnp.maximum(1 - t / steps, 0.0) * (start - end)


class Dyna(Component, eqx.Module):
    """The components of an agent and its settings."""

    env: Space
    """An `Environment`, or only its space if it is stepped in Python."""
    learner: Learner
    replay: ReplayBuffer
    planning: Planning | None
    """None without search-control and model: every mini-batch then comes from the replay buffer."""
    planning_steps: Count = eqx.field(static=True, default=10)
    """Updates per environment step (the paper's d)."""
    batch_size: Count = eqx.field(static=True, default=64)
    """Transitions per mini-batch (b); 256 by default with SAC."""
    exploration: Share = 0.1
    """The probability of a random action after the warm-up (epsilon); with NAF, the standard
    deviation of the noise of actions, relative to half their range. SAC samples from its policy,
    unless it is 0."""
    exploration_initial: Share = 1.0
    """The amount of exploration from which a linear schedule starts; see exploration_steps."""
    exploration_steps: CountOrZero = eqx.field(static=True, default=0)
    """The number of steps, warm-up included, in which exploration changes linearly from
    exploration_initial to exploration; 0 for no schedule."""
    exploration_repeats: Count = eqx.field(static=True, default=10)
    """The most steps that a random action lasts, with discrete actions: at least k steps with
    probability 1/k. The share of random steps is the same (Dabney et al., 2021)."""
    acting_network: Literal["online", "target"] = eqx.field(static=True, default="target")
    """The network that acts, in training and in evaluations; "online" by default with continuous
    actions."""
    warmup_steps: CountOrZero = eqx.field(static=True, default=1000)
    """The number of steps at the start in which every action is random."""
    learn_in_warmup: bool = eqx.field(static=True, default=False)
    """Whether updates and searches start with the first step, rather than after the warm-up."""
    scale_observations: bool | None = eqx.field(static=True, default=None)
    """Whether the network, and a learned model, see scaled observations: coordinates with known
    bounds in [-1, 1], the others by the running mean and standard deviation of the visited states.
    Bounds more than ten times as wide as what was visited become ten times that. If unset: yes,
    except with NAF."""

    def init(self, key: PRNGKeyArray) -> DynaState:
        """The state before the first step; the observation is zero if `env` is only a space."""
        step_key, reset_key, learner_key, model_key = jax.random.split(key, 4)
        memory_key = jax.random.fold_in(key, 4)  # the next one
        n, planning = self.env.observation_size, self.planning
        rules = () if planning is None else planning.search_control.climb_rules
        start = self.env.reset(reset_key) if isinstance(self.env, Environment) else jnp.zeros(n)
        # Statistics of the visited states are needed for searches, and for the scale.
        needed = planning is not None or self.scale_observations
        return DynaState(
            key=step_key,
            observation=start,
            episode_step=jnp.zeros((), int),
            learner=self.learner.init(learner_key),
            replay=self.replay.init(row_width(n, self.env.action_size)),
            queue=None if planning is None else planning.empty_queue(self.env),
            visited=Visited.empty(n) if needed else None,
            model=None if planning is None else planning.model.init(model_key),
            diagnostics=Diagnostics.zero(len(rules)),
            memory=None if planning is None else planning.memory(self.env, memory_key),
            trust=None if planning is None else planning.trust.init(),
            burst=self._burst(None, jnp.zeros((), int), jax.random.fold_in(key, 5)),
        )

    def step(self, state: DynaState, t: Int[Array, ""]) -> DynaState:
        """Act, store, search, plan: one environment step after `t` others."""
        action = self.choose(state, t)
        return self.observe(state, t, action, self.interact(state, t, action))

    def choose(self, state: DynaState, t: Int[Array, ""]) -> Action:
        """Observe s_t and choose the action a_t, with exploration."""
        act_key, *_ = self._keys(state, t)
        burst = state.burst
        epsilon = self._epsilon(t) if burst is None else 0.0
        action = self.act(state, state.observation, epsilon, act_key)
        return action if burst is None else jnp.where(burst.left > 0, burst.action, action)

    def _epsilon(self, t: Int[Array, ""]) -> Float[Array, ""]:
        """The amount of exploration after t steps."""
        exploration = linear_schedule(
            self.exploration_initial, self.exploration, self.exploration_steps, t
        )
        return jnp.where(t < self.warmup_steps, 1.0, exploration)

    def _burst(self, before: Burst | None, t: Int[Array, ""], key: PRNGKeyArray) -> Burst | None:
        """The random action after t steps and its length: that of before, or perhaps a new one."""
        if self.exploration_repeats == 1 or not self.env.num_actions:
            return None
        epsilon = self._epsilon(t)
        start_key, length_key, action_key = jax.random.split(key, 3)
        mean = sum(1 / k for k in range(1, self.exploration_repeats + 1))
        # Bursts last `mean` steps, so they start less often than with probability epsilon.
        starts = jax.random.uniform(start_key) < epsilon / (mean * (1 - epsilon) + epsilon)
        length = jnp.floor(1 / jax.random.uniform(length_key))  # infinite for zero
        length = jnp.minimum(length, self.exploration_repeats).astype(int)
        burst = Burst(
            jax.random.randint(action_key, (), 0, self.env.num_actions),
            jnp.where(starts, length, 0),
        )
        if before is None:
            return burst
        last = Burst(before.action, before.left - 1)
        return jax.tree.map(partial(jnp.where, last.left > 0), last, burst)

    def interact(self, state: DynaState, t: Int[Array, ""], action: Action) -> Experience:
        """Take the action a_t in a compiled environment, and start a new episode if it is over."""
        env = self.env
        assert isinstance(env, Environment)
        _, env_key, reset_key, *_ = self._keys(state, t)
        next_state, reward, terminal = env.transition(state.observation, action, env_key)
        over = terminal | (state.episode_step + 1 >= env.episode_limit)
        observation = jnp.where(over, env.reset(reset_key), next_state)
        return Experience(reward, next_state, terminal, over, observation)

    def observe(
        self, state: DynaState, t: Int[Array, ""], action: Action, experience: Experience
    ) -> DynaState:
        """Observe s_{t+1} and r_{t+1}, store them in B, learn the model, search and plan."""
        *_, plan_key, search_key, model_key = self._keys(state, t)
        state, transition = self.store(state, t, action, experience)
        if self.planning is not None:
            planning, buffers = self.planning.scaled(self._scale(state)), self.buffers(state, t)
            if planning.weighs:
                trust_key = jax.random.fold_in(model_key, 1)
                state = check_prediction(
                    planning, self.learner, state, self._scale(state), transition, t, trust_key
                )
            state = learn_model(planning, state, buffers, transition, model_key)
            state = self.search(state, t, search_key)
        return self.plan(state, t, plan_key)

    def store(
        self, state: DynaState, t: Int[Array, ""], action: Action, experience: Experience
    ) -> tuple[DynaState, Transition]:
        """Add the transition to B, and its state to the statistics of visited states."""
        transition = Transition(
            state.observation, action, experience.reward, experience.next_state, experience.terminal
        )
        visited = state.visited
        if visited is not None:
            visited = visited.add(transition.state, transition.next_state)
        burst = state.burst
        if burst is not None:
            act_key, *_ = self._keys(state, t)
            burst = replace(burst, left=jnp.where(experience.over, 0, burst.left))
            burst = self._burst(burst, t + 1, jax.random.fold_in(act_key, 2))
        after = replace(
            state,
            observation=experience.observation,
            episode_step=jnp.where(experience.over, 0, state.episode_step + 1),
            replay=self.replay.add(state.replay, transition.pack(), t),
            visited=visited,
            diagnostics=state.diagnostics.after_step(experience.over),
            burst=burst,
        )
        return after, transition

    def search(self, state: DynaState, t: Int[Array, ""], key: PRNGKeyArray) -> DynaState:
        """Add the states that the search-control proposes to the queue."""
        assert self.planning is not None
        assert state.queue is not None
        control, search = self.planning.search_control, self.view(state, t)

        def propose() -> Proposal:
            with note_where(f"{type(control).__name__}.propose must return a Proposal"):
                proposal = control.propose(search, key)
            return check_proposal(control, proposal, self.env, state.memory)

        known, env = self.planning.model.knows_state_space, self.env
        contains = env.contains if known else partial(Space.contains, env)  # in its box
        searches = (t >= self.first_update_step).astype(int)
        proposal = self._after_warmup(t, propose, lambda empty: replace(empty, memory=state.memory))
        return replace(
            state,
            queue=state.queue.add(proposal, self.env),
            diagnostics=state.diagnostics.after_search(proposal, self.env, contains, searches),
            memory=proposal.memory,
        )

    def plan(self, state: DynaState, t: Int[Array, ""], key: PRNGKeyArray) -> DynaState:
        """Make the d planning updates; none before `first_update_step`."""
        scale, real, diagnostics = self._scale(state), self.batch_size, state.diagnostics
        learner = self.learner
        simulation: Simulation | Planned | None = None
        replay_key, key = jax.random.split(key)
        bits = jax.random.bits(replay_key, (self.planning_steps, self.batch_size), jnp.uint32)
        if self.planning is not None and self.planning.simulated:
            planning, buffers = self.planning.scaled(scale), self.buffers(state, t)
            updates = self.planning_steps

            def planned() -> tuple[Planned, Diagnostics]:
                rows, finite = imagine(planning, learner, state, scale, buffers, updates, key)
                return rows, state.diagnostics.after_planning(rows.weights, finite)

            if planning.weighs:
                simulation, diagnostics = self._after_warmup(
                    t, planned, lambda empty: (empty[0], state.diagnostics)
                )
            else:
                simulation = Simulation.draw(planning, state.model, buffers, learner, updates, key)
                real -= planning.simulated
        updates_before = (t - self.first_update_step) * self.planning_steps
        update_network = partial(update, learner, self.replay, simulation, scale)
        update_key = jax.random.fold_in(replay_key, 1)

        def update_once(i: Int[Array, ""], progress: Progress) -> Progress:
            key = jax.random.fold_in(update_key, i)
            return update_network(progress, bits[i, :real], i, t, updates_before + i + 1, key)

        def update_all(progress: Progress) -> Progress:
            return repeat(self.planning_steps, update_once, progress, learner.updates_at_once)

        progress = Progress(state.learner, state.replay, jnp.zeros(()), jnp.zeros((), int))
        once = (t >= self.first_update_step).astype(int)
        if self.first_update_step > 0:
            # A loop with 0 or 1 iterations instead of a branch: t is the same for all seeds.
            progress = jax.lax.fori_loop(0, once, lambda _, before: update_all(before), progress)
        else:
            progress = update_all(progress)
        number = once * self.planning_steps
        diagnostics = diagnostics.after_updates(number, progress.loss, t + 1, progress.skipped)
        return replace(
            state, learner=progress.learner, replay=progress.replay, diagnostics=diagnostics
        )

    def _after_warmup(
        self, t: Int[Array, ""], compute: Callable[[], Any], before: Callable[[Any], Any]
    ) -> Any:
        """What a function returns; before `first_update_step` what `before` makes of zeros."""
        if self.first_update_step == 0:
            return compute()
        empty = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(compute))
        # t is the same for all seeds, so only one branch is executed.
        return jax.lax.cond(t >= self.first_update_step, compute, lambda: before(empty))

    @property
    def first_update_step(self) -> int:
        """The step at which searches and planning updates begin."""
        return 0 if self.learn_in_warmup else self.warmup_steps

    def _keys(self, state: DynaState, t: Int[Array, ""]) -> Key[Array, " 6"]:
        """The keys for acting, environment, reset, planning updates, search and model."""
        return jax.random.split(jax.random.fold_in(state.key, t), 6)

    def _scale(self, state: DynaState) -> ObservationScale | None:
        """How the network sees observations; None for as they are."""
        if not self.scale_observations:
            return None
        assert state.visited is not None
        return ObservationScale.of(self.env, state.visited)

    def buffers(self, state: DynaState, t: Int[Array, ""]) -> Buffers:
        """Samples of both buffers, with t + 1 transitions in B."""
        assert state.queue is not None
        return Buffers(self.env, state.replay, state.queue, t)

    def view(self, state: DynaState, t: Int[Array, ""]) -> Search:
        """What a search-control can use, with t + 1 transitions in B."""
        assert self.planning is not None
        scale, buffers = self._scale(state), self.buffers(state, t)
        if scale is not None:
            learner = state.learner
            params = scale.folded(learner.params, self.learner)
            target_params = scale.folded(learner.target_params, self.learner)
            learner = replace(learner, params=params, target_params=target_params)
            state = replace(state, learner=learner)
        return search_view(self.env, self.learner, self.planning.scaled(scale), state, t, buffers)

    def act(
        self,
        state: DynaState,
        observation: Float[Array, " n"],
        epsilon: float | Float[Array, ""],
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy; `epsilon` is 0 for greedy and 1 for random actions."""
        return self.learner.act(self.parameters(state), observation, epsilon, key)

    def parameters(self, state: DynaState) -> Float[Array, " p"]:
        """The parameters of the acting network, for observations that are not scaled."""
        scale, learner = self._scale(state), state.learner
        params = learner.params if self.acting_network == "online" else learner.target_params
        return params if scale is None else scale.folded(params, self.learner)

    def with_parameters(self, state: DynaState, parameters: Float[Array, " p"]) -> DynaState:
        """Replace the parameters of both networks, for observations that are not scaled."""
        scale = self._scale(state)
        if scale is not None:
            parameters = scale.unfolded(parameters, self.learner)
        both = parameters, parameters
        return eqx.tree_at(lambda s: (s.learner.params, s.learner.target_params), state, both)

    def metrics(self, state: DynaState) -> dict[str, Array]:
        """Diagnostics since the last evaluation, and the model's error at the queue's states."""
        learner = self.learner.metrics(state.learner)
        if self.planning is None:
            return state.diagnostics.metrics(searches=False, learns_model=False) | learner
        model, rules = self.planning.model, self.planning.search_control.climb_rules
        learns_model, checks_model = model.learn_batch > 0, not model.is_always_finite
        weighs = self.planning.weighs
        metrics = state.diagnostics.metrics(True, learns_model, checks_model, weighs, rules)
        metrics |= learner
        if learns_model and isinstance(self.env, Environment):
            assert state.queue is not None
            model = self.planning.scaled(self._scale(state)).model
            greedy = partial(
                self.learner.act, self.parameters(state), epsilon=0.0, key=jax.random.key(0)
            )
            metrics["model_error_queue"] = model_error_at_queue(
                model, state.model, state.queue, self.env, greedy
            )
        own = self.planning.trust.metrics(state.trust)
        for name in own.keys() & (metrics.keys() | OF_EVERY_RUN):
            kind = type(self.planning.trust).__name__
            raise FreqdynaError(f"{kind}.metrics returned {name!r}, which a run records already")
        return metrics | own

    def snapshot(self, state: DynaState, t: Int[Array, ""], key: PRNGKeyArray) -> dict[str, Array]:
        """The parameters, states sampled from B and B_s, and V, g and the policy on a grid."""
        bits = jax.random.bits(key, (2, SNAPSHOT_STATES), jnp.uint32)
        stored = uniform_indices(bits[0], jnp.minimum(t, self.replay.capacity))
        params = self.parameters(state)
        recorded = {
            "parameters": params,
            "replay": state.replay.rows[stored, : self.env.observation_size],
        }
        if state.queue is not None:
            recorded |= {"queue": state.queue.sample(bits[1]), "queue_count": state.queue.count}
        if self.planning is not None and state.memory is not None:
            control = self.planning.search_control
            recorded |= check_snapshot(control, control.snapshot(state.memory))
        greedy = partial(self.learner.act, params, epsilon=0.0, key=key)
        weighs = self.planning is not None and self.planning.weighs

        def trust(states: Float[Array, "k n"]) -> Float[Array, " k"]:
            assert self.planning is not None
            scale, trust_key = self._scale(state), jax.random.fold_in(key, 2)
            planning, actions = self.planning.scaled(scale), jax.vmap(greedy)(states)
            predicted, *_ = predict(
                planning, self.learner, state, scale, states, actions, trust_key
            )
            _, weights = jax.vmap(partial(planning.trust.judge, state.trust))(predicted)
            return jnp.clip(weights, 0.0, 1.0)

        if weighs:
            recorded["queue_trust"] = trust(recorded["queue"])
        if not is_drawn(self.env):
            return recorded
        if self.planning is not None:
            # The climbs of a search at this step, only for the snapshot.
            search, climb_key = self.view(state, jnp.maximum(t - 1, 0)), jax.random.fold_in(key, 1)
            recorded |= climbs(self.planning.search_control, search, climb_key)
        recorded["bounds"] = jnp.stack([jnp.asarray(self.env.low), jnp.asarray(self.env.high)])
        recorded |= surfaces(self.learner.value(params), self.env)
        if weighs:
            recorded |= over_grid(lambda s: {"trust": trust(s[None])[0]}, self.env)
        return recorded | over_grid(lambda s: {"policy": greedy(s)}, self.env)

    def dry_step(self, key: PRNGKeyArray) -> DynaState:
        """A step with a meaningless outcome: tracing it finds errors in the components."""
        state, t = self.init(key), jnp.zeros((), int)
        if isinstance(self.env, Environment):
            return self.step(state, t)
        zeros, no = jnp.zeros(self.env.observation_size), jnp.zeros((), bool)
        experience = Experience(jnp.zeros(()), zeros, no, no, zeros)
        return self.observe(state, t, self.choose(state, t), experience)
