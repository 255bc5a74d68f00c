from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna import envs, local_frequency
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.view import axes
from freqdyna.config import Config

SMALL = {
    "warmup_steps": 5,
    "planning_steps": 1,
    "learner.hidden": (8, 8),
    "batch_size": 4,
    "replay.capacity": 20,
}


@cache
def take_snapshot(algorithm, env, steps=50, **settings):
    """The state after some steps of one seed, and its snapshot."""
    env = envs.make(env)
    config = Config.of({"algorithm": algorithm, **settings})
    agent = algorithms.build(config, env)

    @jax.jit
    def run(key):
        state = jax.lax.fori_loop(0, steps, lambda t, s: agent.step(s, t), agent.init(key))
        return state, agent.snapshot(state, jnp.int32(steps), jax.random.key(1))

    return agent, *run(jax.random.key(0))


def test_a_snapshot_draws_stored_states_and_the_surfaces_of_the_network():
    agent, state, shown = take_snapshot("dyna-frequency", "MountainCar-v0", **SMALL)
    stored = {tuple(row) for row in np.asarray(state.replay.rows)[:20, :2]}
    assert {tuple(row) for row in np.asarray(shown["replay"])} == stored  # 2,000 draws of 20
    queue = {tuple(row) for row in np.asarray(state.queue.rows)[: int(state.queue.count)]}
    assert {tuple(row) for row in np.asarray(shown["queue"])} <= queue
    assert shown["queue_count"] == state.queue.count

    x, y = axes(agent.env, (64, 64))
    assert (x[0], x[-1], y[-1]) == tuple(np.float32([-1.2, 0.6, 0.07]))
    network = agent.learner.network(agent.parameters(state))

    @jax.jit
    def expected(point):
        return network(point).max(), local_frequency(lambda s: network(s).max(), point)

    for i, j in ((0, 0), (5, 60), (63, 31)):
        point = jnp.array([x[i], y[j]])
        value, frequency = expected(point)
        np.testing.assert_allclose(shown["value"][i, j], value, rtol=1e-4)
        np.testing.assert_allclose(shown["frequency"][i, j], frequency, rtol=1e-3)


def test_an_agent_without_search_control_has_no_queue():
    _, _, shown = take_snapshot("prioritized-er", "GridWorld", **SMALL)
    assert "queue" not in shown
    assert shown["replay"].shape == (2000, 2)


def test_a_tabular_snapshot_has_the_value_of_each_cell():
    _, state, shown = take_snapshot("tabular-dyna-q", "DynaMaze", steps=2000)
    table = np.asarray(state.table.values)
    assert shown["value"].shape == (6, 9)
    np.testing.assert_array_equal(shown["value"][1, 8], table[9 + 8].max())
    assert shown["value"].max() > 0
    lengths = np.asarray(shown["episode_lengths"])
    assert 0 < lengths.sum() <= 2000


def test_a_snapshot_holds_the_greedy_policy_and_where_climbs_go():
    agent, state, shown = take_snapshot("dyna-frequency", "MountainCar-v0", **SMALL)
    network = agent.learner.network(agent.parameters(state))
    x, y = axes(agent.env, (64, 64))
    for i, j in ((0, 0), (5, 60), (63, 31)):
        assert shown["policy"][i, j] == jnp.argmax(network(jnp.array([x[i], y[j]])))

    states, numbers = np.asarray(shown["climb_states"]), np.asarray(shown["climb_numbers"])
    assert states.shape == (4, 200, 2)
    going = numbers >= 0
    assert (np.diff(numbers, axis=1)[going[:, 1:]] >= 0).all()  # one climb after the other
    assert (going[:, :1] & (going[:, :-1] >= going[:, 1:])).all()  # and none after the end
    inside = (states >= agent.env.low) & (states <= agent.env.high)
    assert inside[going].all()
    assert set(np.asarray(shown["climb_rules"])[going]) <= {0, 1}


def test_an_agent_that_does_not_climb_has_no_climbs():
    _, _, shown = take_snapshot("dyna-uniform", "GridWorld", **SMALL)
    assert "climb_states" not in shown
    assert "policy" in shown
