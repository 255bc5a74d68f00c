"""What a search-control sees of the agent, against values computed by hand."""

from typing import ClassVar

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock

from freqdyna import Config, FreqdynaError, SearchControl
from freqdyna.agents import algorithms
from freqdyna.envs.gym import space_of
from freqdyna.search_control import Proposal

KEY = jax.random.key(0)


def agent_of(env, search_control=None, **settings):
    settings = {
        "steps": 20,
        "learner.hidden": (2,),
        "warmup_steps": 0,
        "planning_steps": 1,
    } | settings
    settings |= {"batch_size": 4, "planning.queue_size": 8}
    own = {"algorithm": "dyna"} if search_control else {"algorithm": "dyna-uniform"}
    config = Config.of({"env": env.name, **own | settings})
    components = {"search_control": search_control} if search_control else {}
    return algorithms.build(config, env, components=components)


def started(agent):
    return jax.jit(lambda key: agent.init(key))(KEY)


def with_values(agent, state, online, target):
    """The state with networks whose outputs are the same everywhere."""

    def constant(outputs):
        flat = np.zeros(state.learner.params.shape, np.float32)
        flat[-len(outputs) :] = outputs
        return jnp.asarray(flat)

    changed = constant(online), constant(target)
    return eqx.tree_at(lambda s: (s.learner.params, s.learner.target_params), state, changed)


def test_td_error_is_the_one_of_the_definition():
    agent = agent_of(Clock(last=3), planning={"exploration": 0.0}, learner={"discount": 0.5})
    state = with_values(agent, started(agent), online=[1.0, 3.0], target=[20.0, 10.0])
    search = agent.view(state, jnp.asarray(7))
    s, last = jnp.array([0.0]), jnp.array([2.0])
    np.testing.assert_allclose(search.q(s), [1, 3])
    np.testing.assert_allclose(search.target_q(s), [20, 10])
    assert search.q(s, jnp.asarray(0)) == 1
    assert (search.num_actions, search.discount, int(search.t)) == (2, 0.5, 7)
    reward = Clock().transition(s, jnp.asarray(0), KEY)[1]
    assert search.td_error(s, KEY, jnp.asarray(0)) == reward + 0.5 * 20 - 1
    assert search.td_error(s, KEY) == reward + 0.5 * 20 - 3  # the greedy action is the second
    assert search.outcome(last, jnp.asarray(0), KEY)[2]
    assert search.td_error(last, KEY, jnp.asarray(0)) == reward - 1  # the next state is terminal
    with pytest.raises(FreqdynaError, match="disagreement"):
        search.disagreement(s, jnp.asarray(0))


def test_with_continuous_actions_q_takes_an_action():
    agent = agent_of(space_of(gymnasium.make("Pendulum-v1")), algorithm="dyna-naf-value")
    search = agent.view(started(agent), jnp.asarray(0))
    s, action = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.5])
    assert search.num_actions == 0
    np.testing.assert_array_equal([search.action_low, search.action_high], [[-2], [2]])
    best = search.policy(s, KEY)
    assert search.q(s, action) <= search.value(s)
    assert best.shape == (1,)
    assert jnp.isfinite(search.td_error(s, KEY, action))
    with pytest.raises(FreqdynaError, match=r"use q\(s, action\)"):
        search.q(s)


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

    def snapshot(self, memory):
        """The number of searches."""
        return {"searches": memory["searches"]}


@pytest.fixture(scope="module")
def after_six_steps():
    """An agent that proposes pairs, which begins to search after its third step."""
    settings = {"warmup_steps": 3, "planning.exploration": 0.0, "planning.simulated_share": 1.0}
    agent = agent_of(Clock(last=100), Pairs(), learn_in_warmup=False, **settings)
    step, state = eqx.filter_jit(agent.step), started(agent)
    for t in range(6):
        state = step(state, jnp.asarray(t))
    return agent, state


def test_memory_is_kept_from_step_to_step_and_while_nothing_is_searched(after_six_steps):
    agent, state = after_six_steps
    assert state.memory["searches"] == 3
    assert (state.memory["seen"] <= 6).all()
    shown = agent.snapshot(state, jnp.asarray(6), KEY)
    assert shown["searches"] == 3


def test_planning_takes_the_proposed_actions(after_six_steps):
    agent, state = after_six_steps
    np.testing.assert_array_equal(state.queue.rows[:4, 0], [5, 5, 5, 0])
    np.testing.assert_array_equal(state.queue.actions[:4], [1, 1, 1, 0])
    assert state.diagnostics.outside == 3  # the pairs with an action that does not exist
    bits = jnp.arange(4, dtype=jnp.uint32)
    np.testing.assert_array_equal(
        agent.buffers(state, jnp.asarray(5)).queued_actions(bits), [1, 1, 1, 1]
    )
    before = started(agent)
    taken = agent.buffers(before, jnp.asarray(0)).queued_actions(bits)  # from the replay buffer
    np.testing.assert_array_equal(taken, [0, 0, 0, 0])


class Forgetful(Pairs):
    """It returns no memory."""

    def propose(self, search, key):
        """Only states and actions."""
        return Proposal.of(jnp.zeros((1, 1)), actions=jnp.zeros(1, int))


class Silent(Pairs):
    """It returns no actions."""

    def propose(self, search, key):
        """Only states."""
        return Proposal.of(jnp.zeros((1, 1)), memory=search.memory)


class Fractional(Pairs):
    """Its actions are no integers."""

    def propose(self, search, key):
        """Half an action."""
        return Proposal.of(jnp.zeros((1, 1)), actions=jnp.ones(1) / 2, memory=search.memory)


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (Forgetful, r"Forgetful\.propose returned memory None; it must be .*int32"),
        (Silent, r"Silent\.propose returned actions None; it must be int32\[1\]"),
        (Fractional, r"propose returned actions float32\[1\]; it must be int32\[1\]"),
    ],
)
def test_a_proposal_that_breaks_the_contract_is_told(strategy, message):
    agent = agent_of(Clock(), strategy())
    with pytest.raises(FreqdynaError, match=message):
        jax.eval_shape(agent.dry_step, KEY)
