"""One step of the agent after the other: what is stored, searched and learned, and when."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock, agent_of

from freqdyna import envs
from freqdyna.agents.models import Model


@jax.jit
def start(dyna):
    return dyna.init(jax.random.key(0))


@jax.jit
def advance(dyna, state, begin, end):
    """The steps begin, ..., end - 1; one program for agents that differ only in numbers."""
    return jax.lax.fori_loop(begin, end, lambda t, s: dyna.step(s, t), state)


def run(dyna, steps):
    return advance(dyna, start(dyna), 0, steps)


def clock(last=1000):
    return Clock(episode_limit=5, last=last)


def test_stores_what_happened_and_a_cut_is_not_a_termination():
    state = run(agent_of(clock()), 12)
    rows = np.asarray(state.replay.rows)[:12]
    states, next_states, terminals = rows[:, 0], rows[:, 1], rows[:, -1]
    np.testing.assert_array_equal(states, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
    np.testing.assert_array_equal(next_states, states + 1)
    assert not terminals.any()
    assert state.diagnostics.updates == 2 * 12


def test_a_termination_is_stored_and_starts_a_new_episode():
    state = run(agent_of(clock(last=3)), 8)
    rows = np.asarray(state.replay.rows)[:8]
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 2, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1, 0, 0, 1, 0, 0])
    assert state.diagnostics.episodes == 2


def test_a_seed_whose_loss_is_not_finite_is_marked_with_its_step():
    dyna = agent_of(clock())
    state = run(dyna, 10)
    assert state.diagnostics.diverged_at == -1
    broken = eqx.tree_at(lambda s: s.learner.params, state, np.inf * np.sign(state.learner.params))
    broken = advance(dyna, broken, 10, 12)
    assert broken.diagnostics.diverged_at == 11
    assert np.isfinite(broken.observation).all()


def test_no_simulated_share_is_exactly_er():
    er = run(agent_of(clock()), 60)
    dyna = run(agent_of(clock(), "dyna-uniform", **{"planning.simulated_share": 0.0}), 60)
    np.testing.assert_array_equal(er.learner.params, dyna.learner.params)
    np.testing.assert_array_equal(er.replay.rows, dyna.replay.rows)
    assert dyna.queue.count > 0


@pytest.mark.parametrize("known", [True, False])
def test_with_a_learned_model_searches_stay_where_the_agent_may_look(known):
    env = envs.make("MazeGridWorld")
    told = {"termination": "known", "state_space": "known"} if known else {}
    settings = {"model": {"name": "learned", "hidden": (8,), **told}, "search_control.states": 10}
    agent = agent_of(env, "dyna-uniform", **settings)
    # Start beside the goal, so that steps meet it.
    state = eqx.tree_at(lambda s: s.observation, start(agent), np.float32([0.96, 0.9]))
    state = advance(agent, state, 0, 400)
    queued = np.asarray(state.queue.rows)[: int(state.queue.count)]
    assert len(queued) > 400
    if known:
        at = jax.jit(jax.vmap(lambda s: (env.contains(s), env.terminal(s))))
        contains, terminal = at(queued)
        assert np.all(contains)
        assert not np.any(terminal)
    else:
        assert np.all((queued >= state.visited.low) & (queued <= state.visited.high))
    assert state.diagnostics.outside == 0
    assert np.isfinite(state.learner.params).all()
    assert state.diagnostics.updates == 2 * 400
    # Relative to "nothing moves", that is to a step of about 0.05: less than the square's side.
    assert 0 < jax.jit(agent.metrics)(state)["model_error"] < 1 / 0.05


class Counts(Model):
    """Counts its updates, and the mini-batches that differ from the one before."""

    learn_batch = 4

    def init(self, key):
        return jnp.zeros(()), jnp.zeros(()), jnp.zeros(4)

    def query(self, state, s, action, noise):
        return s, jnp.asarray(-1.0), jnp.zeros((), bool)

    def learn(self, state, batch):
        updates, new, last = state
        return updates + 1, new + (batch.state[:, 0] != last).any(), batch.state[:, 0]


def test_models_learn_once_there_is_a_batch_and_values_and_searches_wait_for_the_warm_up():
    settings = {"planning.model_updates": 3, "warmup_steps": 30}
    dyna = agent_of(Clock(), "dyna-uniform", {"model": Counts()}, **settings)
    state = run(dyna, 3)
    assert state.model[0] == 0
    state = advance(dyna, state, 3, 30)
    updates, new, _ = state.model
    assert updates == 3 * 27
    assert new > 0.9 * updates
    initial = start(dyna).learner.params
    np.testing.assert_array_equal(state.learner.params, initial)
    assert state.queue.count == 0
    assert state.diagnostics.searches.tolist() == [0, 0, 0, 0, 0]
    state = advance(dyna, state, 30, 40)
    assert (state.learner.params != initial).any()
    assert state.diagnostics.updates == 2 * 10
    assert state.queue.count == 10 * 20
    assert state.diagnostics.searches.tolist() == [10, 200, 0, 0, 0]


def test_random_actions_are_repeated_and_their_share_stays_the_same():
    steps, epsilon, longest = 6_000, 0.3, 4
    dyna = agent_of(
        Clock(episode_limit=10_000, last=10_000),
        **{
            **{"exploration_repeats": longest, "exploration": epsilon, "warmup_steps": 0},
            **{"planning_steps": 1, "batch_size": 1, "replay.capacity": steps},
        },
    )

    def step(state, t):
        return dyna.step(state, t), state.burst

    state, bursts = jax.jit(partial(jax.lax.scan, step))(start(dyna), jnp.arange(steps))
    left, actions = np.asarray(bursts.left), np.asarray(bursts.action)
    taken = np.asarray(state.replay.rows)[:steps, 2]
    np.testing.assert_array_equal(taken[left > 0], actions[left > 0])
    begins = (left > 0) & (np.append(0, left[:-1]) <= 1)
    lengths = left[begins]
    for k in range(1, longest + 1):
        assert abs((lengths >= k).mean() - 1 / k) <= 5 * (1 / 4 / len(lengths)) ** 0.5
    # Starts are independent draws; a burst of mean length 25/12 multiplies their error by it.
    assert abs((left > 0).mean() - epsilon) <= 5 * 25 / 12 * (1 / 4 / steps) ** 0.5
    inside = left[:-1] > 1
    np.testing.assert_array_equal(left[1:][inside], left[:-1][inside] - 1)


def test_a_repeated_action_ends_with_its_episode():
    inside, at_the_end = (
        agent_of(clock(last), exploration_repeats=50, exploration=0.0) for last in (9, 1)
    )
    state = eqx.tree_at(lambda s: s.burst.left, start(inside), jnp.asarray(40))
    assert advance(inside, state, 0, 1).burst.left == 39
    assert advance(at_the_end, state, 0, 1).burst.left == 0


def test_the_target_network_can_act():
    online, target = (agent_of(clock(), acting_network=name) for name in ("online", "target"))
    state = run(online, 10)
    assert (online.parameters(state) != target.parameters(state)).any()
    np.testing.assert_array_equal(
        target.parameters(state),
        online.parameters(
            eqx.tree_at(lambda s: s.learner.params, state, state.learner.target_params)
        ),
    )
