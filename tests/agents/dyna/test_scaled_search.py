from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from corridor import SMALL, Corridor

import freqdyna
from freqdyna import Config, envs
from freqdyna.agents import algorithms
from freqdyna.agents.dyna.observation_scale import ObservationScale
from freqdyna.agents.dyna.scaled_search import raw_proposal
from freqdyna.envs.resolve import resolved
from freqdyna.search_control import Proposal

KEY = jax.random.key(3)


@pytest.fixture(scope="module")
def views():
    """The views of one agent on MountainCar, raw and scaled, and the scale."""
    env = envs.make("MountainCar-v0")
    settings = {"steps": 60, "warmup_steps": 0, "planning_steps": 2, "hidden": (5,)}
    settings |= {"search_states": 4, "climb_limit": 20, "batch_size": 4, "queue_size": 50}
    config = Config(
        algorithm="dyna-value", scale_observations=True, climb_coordinates="scaled", **settings
    )
    agent = algorithms.build(resolved(config, env), env)
    state = agent.init(jax.random.key(0))
    step = eqx.filter_jit(agent.step)
    for t in range(12):
        state = step(state, jnp.asarray(t))
    # Bend the network, so that derivatives are not near zero.
    learner = replace(state.learner, params=3 * jax.random.normal(KEY, state.learner.params.shape))
    state, t = replace(state, learner=learner), jnp.asarray(11)
    raw = replace(agent, search_scaled=False)._view(state, t)
    return agent, state, raw, agent._view(state, t), ObservationScale.of(env, None)


def test_what_the_agent_did_in_scaled_coordinates_is_stored_in_raw_ones(views):
    agent, state, *_, scale = views
    queued = state.queue.rows[: int(state.queue.count)]
    assert len(queued) > 10
    assert jax.vmap(agent.env.contains)(queued).all()
    assert state.diagnostics.outside == 0
    # States are stored if they are farther apart than a mean step in scaled coordinates.
    rows = state.replay.rows[:12]
    steps = np.linalg.norm(scale(rows[:, 2:4]) - scale(rows[:, :2]), axis=1) / np.sqrt(2)
    assert float(state.visited.mean_step) == pytest.approx(steps.mean(), rel=1e-4)


def test_values_and_derivatives_are_those_by_the_scaled_coordinates(views):
    _, _, raw, scaled, scale = views
    half = np.asarray(scale.half)

    def value(x):
        return raw.value(scale.centre + scale.half * x)

    @jax.jit
    def both(s):
        x = scale(s)
        ours = scaled.value(x), scaled.derivatives(x), scaled.slopes(x, 0.7, 1.3)[0]
        slope = freqdyna.frequency.local_frequency_gradient(value, x, 0.7, 1.3)
        return ours, (raw.value(s), raw.derivatives(s), slope)

    ours, theirs = both(jnp.array([-0.4, 0.02]))
    assert float(ours[0]) == pytest.approx(float(theirs[0]), rel=1e-4)
    np.testing.assert_allclose(ours[1].gradient, half * theirs[1].gradient, rtol=1e-3)
    bends = np.outer(half, half)
    np.testing.assert_allclose(ours[1].hessian, bends * theirs[1].hessian, rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-2)
    np.testing.assert_allclose(scaled.covariance * bends, raw.covariance, rtol=1e-5)


def test_the_agents_functions_take_and_give_scaled_states(views):
    _, _, raw, scaled, scale = views

    @jax.jit
    def both(s, action):
        def seen(view, s, scaled_as):
            values = view.q(s), view.q(s, action), view.target_q(s), view.td_error(s, action, KEY)
            values = *values, view.q(s, action=action), view.target_q(s=s, action=action)
            states = view.visited(KEY, 5), view.queued(KEY, 5), view.outcome(s, action, KEY)[0]
            drawn = view.transitions(KEY, 5)
            states = *states, drawn.state, drawn.next_state
            return *values, drawn.reward, *map(scaled_as, states)

        return seen(scaled, scale(s), lambda x: x), seen(raw, s, scale)

    ours, theirs = both(jnp.array([-0.4, 0.02]), jnp.asarray(2))
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-3, atol=1e-4)


def test_bounds_hold_exactly_in_both_coordinates(views):
    agent, _, raw, scaled, scale = views
    np.testing.assert_allclose(scaled.low, [-1, -1], rtol=1e-6)
    edge = scaled.project(jnp.array([-3.0, 1.7]))
    np.testing.assert_array_equal(edge, [scaled.low[0], scaled.high[1]])
    assert scaled.contains(edge)
    assert not scaled.contains(jnp.array([0.0, 1.01]))
    assert scaled.terminal(scale(jnp.array([0.55, 0.0])))
    states = jnp.stack([edge, jnp.array([0.0, 1.5])])
    found = raw_proposal(Proposal.of(states), scale).states
    np.testing.assert_array_equal(found[0], [agent.env.low[0], agent.env.high[1]])
    assert not raw.contains(found[1])  # a search-control's mistake stays one


def test_climbs_of_a_snapshot_are_recorded_in_raw_coordinates(views):
    agent, state, *_ = views
    shown = jax.jit(agent.snapshot)(state, jnp.asarray(12), KEY)
    drawn = shown["climb_states"][shown["climb_numbers"] >= 0]
    assert len(drawn) > 10
    assert jax.vmap(agent.env.contains)(drawn).all()
    network = agent.learner.network(shown["parameters"])
    lowest = network(jnp.asarray(agent.env.low)).max()
    assert float(shown["value"][0, 0]) == pytest.approx(float(lowest), rel=1e-4)


def test_all_settings_of_learners_together_on_a_users_environment():
    settings = {"double": True, "loss": "huber", "activation": "silu", "max_gradient_norm": 1.0}
    settings |= {"exploration_fraction": 0.5, "scale_observations": True, "seeds": 2}
    result = freqdyna.train(Corridor, "er", **(SMALL | settings))
    assert np.isfinite(result.returns).all()
    policy, network = result.policy(0, env=Corridor), result.network(0)
    for observation in np.array([[0.1, 0.0], [0.9, 7.0], [0.5, 30.0]], np.float32):
        assert policy(observation) == 5 + int(np.argmax(network(jnp.asarray(observation))))
