"""Simulated transitions."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock, agent_of

from freqdyna import FreqdynaError, envs
from freqdyna.agents.dyna.planning import Simulation, imagine
from freqdyna.agents.learners import DQN
from freqdyna.agents.models import Model, TrueModel
from freqdyna.agents.trust import Trust
from freqdyna.envs.space import Transition

CLOCK = Clock(last=5)
STARTS = [0.0, 3.0, 1.0, 9.0, 9.0, 9.0, 9.0]


class Broken(Model):
    """The clock, which does not know what comes after 1."""

    def query(self, state, s, action, noise):
        next_state, reward, terminal = CLOCK.transition_from_noise(s, action, jnp.zeros(1))
        return jnp.where(s == 1, jnp.inf, next_state), reward, terminal


@pytest.fixture(scope="module")
def simulation():
    learner = DQN(hidden=(4,)).bind(CLOCK)
    return Simulation(
        learner=learner,
        model=TrueModel(CLOCK),
        model_state=None,
        states=jnp.array(STARTS).reshape(1, 7, 1),
        exploration=learner.draw_exploration(
            (jax.random.key(0), jax.random.key(1)), (1, 7), epsilon=0.0
        ),
        noise=jnp.zeros((1, 7, 1)),
    )


@pytest.fixture(scope="module")
def params(simulation):
    shape = simulation.learner.init(jax.random.key(0)).params.shape
    return 3 * jax.random.normal(jax.random.key(2), shape)


def transitions(simulation, params):
    network = jax.vmap(simulation.learner.network(params))
    rows = jax.jit(lambda i: simulation.transitions(i, network(simulation.states[i])))(
        jnp.asarray(0)
    )
    return rows, jax.vmap(Transition.unpack)(rows)


def test_proposed_actions_replace_those_of_the_policy(simulation, params):
    _, seen = transitions(simulation, params)
    greedy = jax.vmap(simulation.learner.network(params))(seen.state).argmax(-1)
    np.testing.assert_array_equal(seen.action, greedy)
    _, seen = transitions(dataclasses.replace(simulation, actions=1 - greedy[None]), params)
    np.testing.assert_array_equal(seen.action, 1 - greedy)


def test_what_is_not_finite_is_marked(simulation, params):
    broken = dataclasses.replace(simulation, model=Broken())
    rows, seen = transitions(broken, params)
    np.testing.assert_array_equal(seen.state[:, 0], STARTS)
    real = rows[3:5]
    batch, usable = broken.mini_batch(real, rows)
    np.testing.assert_array_equal(usable, [1, 1, *(start != 1 for start in STARTS)])
    np.testing.assert_array_equal(batch[:2], real)


def test_simulated_transitions_have_queue_states_actions_of_the_policy_and_outcomes_of_the_model():
    env = envs.make("MountainCar-v0")
    settings = {"planning.exploration": 0.0, "learner.hidden": (8,), "batch_size": 32}
    agent = agent_of(env, "dyna-uniform", model="true", **settings)

    @jax.jit
    def simulated(key):
        state = agent.search(agent.init(key), jnp.asarray(0), key)
        buffers = agent.buffers(state, jnp.asarray(0))
        drawn = Simulation.draw(agent.planning, state.model, buffers, agent.learner, 2, key)
        values = jax.vmap(agent.learner.network(state.learner.params))
        rows = drawn.transitions(jnp.asarray(1), values(drawn.states[1]))
        seen = jax.vmap(Transition.unpack)(rows)
        expected = jax.vmap(env.transition, in_axes=(0, 0, None))(seen.state, seen.action, key)
        return state.queue.rows[:20], seen, values(seen.state), expected[0]

    queue, seen, values, next_states = simulated(jax.random.key(0))
    assert seen.state.shape == (16, 2)
    assert {tuple(row) for row in seen.state.tolist()} <= {tuple(row) for row in queue.tolist()}
    np.testing.assert_array_equal(seen.action, np.argmax(values, axis=1))
    np.testing.assert_array_equal(seen.next_state, next_states)


class Half(Trust):
    """Every simulated transition counts half."""

    def judge(self, state, prediction):
        return prediction.target, jnp.full((), 0.5)


def test_steps_of_a_rollout_count_as_far_as_all_before_them():
    clock, length = Clock(last=5, episode_limit=9), 3
    settings = {"model": "true", "batch_size": 60, "planning_steps": 1, "replay.capacity": 50}
    settings |= {"planning.rollout_length": length, "scale_observations": False}
    agent = agent_of(clock, "dyna-replay", {"trust": Half()}, **settings)

    @partial(jax.jit, static_argnums=1)
    def planned(key, updates):
        state = jax.lax.fori_loop(0, 20, lambda t, s: agent.step(s, t), agent.init(key))
        buffers = agent.buffers(state, jnp.asarray(19))
        return imagine(agent.planning, agent.learner, state, None, buffers, updates, key)

    rows, finite = planned(jax.random.key(0), updates=2)
    assert finite.shape == rows.weights.shape == (2, 30)
    for of_update in rows.weights:  # each has steps of all depths
        assert {0.5, 0.25, 0.125} <= set(of_update.tolist())
    rows, _ = planned(jax.random.key(0), updates=1)
    states, weights = rows.states.reshape(-1, length).T, rows.weights.reshape(-1, length).T
    assert len(np.unique(states[0])) > 2
    reached = np.ones(10)
    for step in range(length):
        np.testing.assert_array_equal(states[step], states[0] + step)
        np.testing.assert_allclose(weights[step], 0.5 ** (step + 1) * reached)
        reached = reached * (states[step] + 1 < 5)  # what comes after the end does not count
    assert 0 < reached.mean() < 1
    with pytest.raises(FreqdynaError, match="rollout_length"):
        agent_of(clock, "dyna-replay", **settings, trust="always")
