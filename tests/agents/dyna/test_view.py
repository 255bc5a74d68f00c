"""What others see of the agent: searches, snapshots, and the error of its model."""

from dataclasses import replace
from typing import ClassVar

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock, agent_of

from freqdyna import FreqdynaError, SearchControl, envs, local_frequency
from freqdyna.agents.dyna.state import Queue
from freqdyna.agents.dyna.view import axes, model_error_at_queue
from freqdyna.agents.models import Model
from freqdyna.envs import Environment
from freqdyna.envs.gym import space_of
from freqdyna.search_control import Proposal

KEY = jax.random.key(0)


def small_agent(env, search_control=None, algorithm="dyna-uniform", **settings):
    settings |= {"planning_steps": 1, "batch_size": 4, "planning.queue_size": 8}
    if search_control is None:
        return agent_of(env, algorithm, **settings)
    return agent_of(env, "dyna", {"search_control": search_control}, **settings)


def started(agent):
    return jax.jit(lambda key: agent.init(key))(KEY)


def test_td_error_is_the_one_of_the_definition():
    settings = {"planning.exploration": 0.0, "learner.discount": 0.5, "learner.double": False}
    agent = small_agent(Clock(last=3), model="true", **settings)
    s, last, first = jnp.array([0.0]), jnp.array([2.0]), jnp.asarray(0)

    def constant(outputs, params):
        """A network whose outputs are the same everywhere."""
        return jnp.zeros_like(params).at[-2:].set(jnp.array(outputs))

    @jax.jit
    def seen(state):
        params = state.learner.params
        networks = constant([1.0, 3.0], params), constant([20.0, 10.0], params)
        state = eqx.tree_at(lambda s: (s.learner.params, s.learner.target_params), state, networks)
        search = agent.view(state, jnp.asarray(7))
        assert (search.num_actions, search.discount) == (2, 0.5)
        with pytest.raises(FreqdynaError, match="disagreement"):
            search.disagreement(s, first)
        errors = search.td_error(s, KEY, first), search.td_error(s, KEY)
        at_end = search.outcome(last, first, KEY)[2], search.td_error(last, KEY, first)
        return search.q(s), search.target_q(s), search.q(s, first), errors, at_end, search.t

    q, target_q, q_first, errors, (ends, last_error), t = seen(started(agent))
    np.testing.assert_allclose(q, [1, 3])
    np.testing.assert_allclose(target_q, [20, 10])
    assert (q_first, t) == (1, 7)
    # The reward is 1, and the greedy action the second.
    np.testing.assert_allclose(errors, [1 + 0.5 * 20 - 1, 1 + 0.5 * 20 - 3])
    assert (ends, last_error) == (True, 1 - 1)  # the next state is terminal


@pytest.mark.parametrize("kind", ["true", "learned"])
def test_only_the_true_model_lets_a_search_see_walls_and_the_goal(kind):
    env = envs.make("GridWorld")
    agent = small_agent(env, model=kind)
    wall, goal, unseen = (jnp.array(s) for s in ([0.55, 0.1], [0.96, 0.96], [0.01, 0.5]))
    seen = jnp.array([0.1, 0.05]), jnp.array([0.98, 0.98])

    @jax.jit
    def look(state):
        visited = replace(state.visited, low=seen[0], high=seen[1])
        search = agent.view(replace(state, visited=visited), jnp.asarray(7))
        inside = [search.contains(s) for s in (wall, goal, unseen)]
        return (search.low, search.high), inside, search.terminal(goal), search.project(unseen)

    bounds, inside, is_goal, nearest = look(started(agent))
    if kind == "true":
        np.testing.assert_array_equal(bounds, [env.low, env.high])
        assert (*map(bool, inside), bool(is_goal)) == (False, True, True, True)
        np.testing.assert_array_equal(nearest, unseen)
    else:
        np.testing.assert_array_equal(bounds, seen)
        assert (*map(bool, inside), bool(is_goal)) == (True, True, False, False)
        np.testing.assert_array_equal(nearest, jnp.array([0.1, 0.5]))


def test_with_continuous_actions_q_takes_an_action():
    space = space_of(gymnasium.make("Pendulum-v1"))
    agent = small_agent(space, algorithm="dyna-naf-value")
    s, action = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.5])

    @jax.jit
    def seen(state):
        search = agent.view(state, jnp.asarray(0))
        assert search.num_actions == 0
        np.testing.assert_array_equal([search.action_low, search.action_high], [[-2], [2]])
        with pytest.raises(FreqdynaError, match="action"):
            search.q(s)
        best = search.policy(s, KEY)
        return best, search.q(s, action), search.value(s), search.td_error(s, KEY, action)

    best, q, value, error = seen(started(agent))
    assert best.shape == (1,)
    assert q <= value
    assert np.isfinite(error)


class Pairs(SearchControl):
    """Two pairs, one of which has an action that does not exist; it counts its searches."""

    proposes_actions: ClassVar[bool] = True

    def init(self, space, key):
        """No search yet."""
        return {"searches": 0, "seen": jnp.zeros((2, space.observation_size))}

    def propose(self, search, key):
        """Pair the state 5 with action 1."""
        searches = search.memory["searches"] + 1
        memory = {"searches": searches, "seen": search.transitions(key, 2).state}
        actions = jnp.array([1, 2])
        return Proposal.of(jnp.full((2, 1), 5.0), actions=actions, memory=memory)


def test_memory_is_kept_from_step_to_step_and_planning_takes_the_proposed_actions():
    # The agent begins to search after its third step.
    settings = {"warmup_steps": 3, "planning.exploration": 0.0, "planning.simulated_share": 1.0}
    agent = small_agent(Clock(last=100), Pairs(), learn_in_warmup=False, **settings)
    step, before = eqx.filter_jit(agent.step), started(agent)
    state = before
    for t in range(6):
        state = step(state, jnp.asarray(t))
    assert state.memory["searches"] == 3
    assert (state.memory["seen"] <= 6).all()
    np.testing.assert_array_equal(state.queue.rows[:4, 0], [5, 5, 5, 0])
    np.testing.assert_array_equal(state.queue.actions[:4], [1, 1, 1, 0])
    assert state.diagnostics.outside == 3  # the pairs with an action that does not exist
    bits = jnp.arange(4, dtype=jnp.uint32)
    np.testing.assert_array_equal(
        agent.buffers(state, jnp.asarray(5)).queued_actions(bits), [1, 1, 1, 1]
    )
    taken = agent.buffers(before, jnp.asarray(0)).queued_actions(bits)  # from the replay buffer
    np.testing.assert_array_equal(taken, [0, 0, 0, 0])


class WrongOnTheRight(Model):
    """Mountain Car, but 0.18 (a tenth of the range) too far right of 0, or for action 2."""

    env: Environment

    def query(self, state, s, action, noise):
        next_state, reward, terminal = self.env.transition_from_noise(s, action, jnp.zeros(1))
        is_wrong = (s[0] > 0) | (action == 2)
        return next_state + jnp.array([0.18, 0.0]) * is_wrong, reward, terminal


def test_the_error_is_that_at_the_states_and_actions_of_the_queue():
    env = envs.make("MountainCar-v0")
    error = jax.jit(
        lambda queue: model_error_at_queue(
            WrongOnTheRight(env), None, queue, env, lambda state: jnp.zeros((), int)
        )
    )
    empty = Queue.empty(10, env)
    assert np.isnan(error(empty))
    states = jnp.array([[-0.5, 0.0], [0.2, 0.0], [-0.4, 0.01], [-0.3, 0.0]])
    queue = empty.add(Proposal.of(states), env)

    def moved(*actions):
        """How far the four states move, in units of the ranges."""
        pairs = zip(states, actions, strict=True)
        ends = [env.transition_from_noise(s, jnp.int32(a), jnp.zeros(1))[0] for s, a in pairs]
        return np.sqrt(np.mean(((np.array(ends) - states) / (env.high - env.low)) ** 2))

    # One of four states, one of two coordinates; the six empty places do not count.
    assert error(queue) == pytest.approx(0.1 * np.sqrt(1 / 8) / moved(0, 0, 0, 0), rel=1e-3)
    pairs = replace(queue, actions=jnp.array([0, 1, 2, 0, 2, 2, 2, 2, 2, 2]))
    assert error(pairs) == pytest.approx(0.1 * np.sqrt(2 / 8) / moved(0, 1, 2, 0), rel=1e-3)


def test_a_snapshot_has_stored_states_surfaces_the_policy_and_climbs():
    env = envs.make("MountainCar-v0")
    settings = {"replay.capacity": 20, "search_control.states": 10}
    agent = agent_of(env, "dyna-frequency", planning_steps=1, **settings)

    @jax.jit
    def run(key):
        # Start beside the goal, so that climbs and steps meet it.
        start = eqx.tree_at(lambda s: s.observation, agent.init(key), jnp.array([0.45, 0.04]))
        state = jax.lax.fori_loop(0, 400, lambda t, s: agent.step(s, t), start)
        queued = jax.vmap(lambda s: env.contains(s) & ~env.terminal(s))(state.queue.rows)
        return state, queued, agent.snapshot(state, jnp.int32(400), jax.random.key(1))

    state, queued, recorded = run(KEY)
    count = int(state.queue.count)
    assert count > 400
    assert queued[:count].all()
    stored = {tuple(row) for row in np.asarray(state.replay.rows)[:20, :2]}
    assert {tuple(row) for row in np.asarray(recorded["replay"])} == stored  # 2,000 draws of 20
    queue = {tuple(row) for row in np.asarray(state.queue.rows)[:count]}
    assert {tuple(row) for row in np.asarray(recorded["queue"])} <= queue
    assert recorded["queue_count"] == count

    x, y = axes(env, (64, 64))
    assert (x[0], x[-1], y[-1]) == tuple(np.float32([-1.2, 0.6, 0.07]))
    network = agent.learner.network(agent.parameters(state))

    @jax.jit
    def expected(point):
        return network(point), local_frequency(lambda s: network(s).max(), point)

    for i, j in ((0, 0), (5, 60), (63, 31)):
        values, frequency = expected(jnp.array([x[i], y[j]]))
        np.testing.assert_allclose(recorded["value"][i, j], values.max(), rtol=1e-4)
        np.testing.assert_allclose(recorded["frequency"][i, j], frequency, rtol=1e-3)
        assert recorded["policy"][i, j] == jnp.argmax(values)

    states, numbers = np.asarray(recorded["climb_states"]), np.asarray(recorded["climb_numbers"])
    assert states.shape == (4, 200, 2)
    going = numbers >= 0
    assert (np.diff(numbers, axis=1)[going[:, 1:]] >= 0).all()  # one climb after the other
    assert (going[:, :1] & (going[:, :-1] >= going[:, 1:])).all()  # and none after the end
    inside = (states >= env.low) & (states <= env.high)
    assert inside[going].all()
    assert set(np.asarray(recorded["climb_rules"])[going]) <= {0, 1}
