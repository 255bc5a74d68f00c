from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from corridor import Corridor
from gymnasium import spaces

from freqdyna import Config, envs
from freqdyna.agents import algorithms
from freqdyna.agents.models.learned import Learned
from freqdyna.envs.gym import space_of
from freqdyna.envs.space import Space, Transition


@eqx.filter_jit
def random_transitions(env, number, seed=0):
    state_key, action_key, env_key = jax.random.split(jax.random.key(seed), 3)
    states = jax.random.uniform(
        state_key, (number, env.observation_size), minval=env.low, maxval=env.high
    )
    states = jax.vmap(env.project)(states)
    actions = jax.random.randint(action_key, (number,), 0, env.num_actions)
    keys = jax.random.split(env_key, number)
    next_states, rewards, terminals = jax.vmap(env.transition)(states, actions, keys)
    return jax.vmap(Transition)(states, actions, rewards, next_states, terminals)


@pytest.mark.parametrize("name", ["MountainCar-v0", "GridWorld"])
def test_planning_from_the_replay_is_replay_when_the_world_is_deterministic(name):
    # The paper's argument (section 2): an exact deterministic model, asked for what was seen,
    # only says again what the replay already holds.
    env = envs.make(name, **({"move_noise": 0.0} if name == "GridWorld" else {}))
    config = Config.of(
        {
            "algorithm": "dyna-replay",
            **{"steps": 300, "replay.capacity": 300, "warmup_steps": 0, "planning_steps": 1},
            "learner": {"hidden": (4,)},
        }
    )
    agent = algorithms.build(config, env)
    advance = jax.jit(lambda s: jax.lax.fori_loop(0, 300, lambda t, s: agent.step(s, t), s))
    state = advance(jax.jit(agent.init)(jax.random.key(0)))
    seen = jax.jit(jax.vmap(Transition.unpack))(state.replay.rows)
    visited = {tuple(row) for row in np.asarray(seen.state).tolist()}
    queued = np.asarray(state.queue.rows)[: int(state.queue.count)].tolist()
    assert len(queued) == 300 * 20
    assert {tuple(row) for row in queued} <= visited

    model = agent.planning.model
    noise = jax.random.normal(jax.random.key(9), (300, model.noise_size))
    query = jax.jit(jax.vmap(model.query, in_axes=(None, 0, 0, 0)))
    outcome = query(state.model, seen.state, seen.action, noise)
    for queried, stored in zip(outcome, (seen.next_state, seen.reward, seen.terminal), strict=True):
        np.testing.assert_allclose(queried, stored, atol=1e-6)


class Wide(Space):
    """States in [-1024, 1024]."""

    name: ClassVar[str] = "Wide"
    low: ClassVar[np.ndarray] = np.full(2, -1024.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(2, 1024.0, np.float32)
    num_actions: ClassVar[int] = 2


class Narrow(Wide):
    """The same in [-1, 1]."""

    low: ClassVar[np.ndarray] = np.full(2, -1.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(2, 1.0, np.float32)


def test_with_a_scale_a_model_learns_large_observations_like_small_ones():
    keys = jax.random.split(jax.random.key(0), 3)
    states, nexts = jax.random.uniform(keys[0], (2, 128, 2), minval=-1)
    actions, ends = jax.random.randint(keys[1], (128,), 0, 2), jnp.zeros(128, bool)

    def learned(space, unit, scaled):
        """The parameters after an update, and a prediction, in units of the small space."""
        model = Learned(learning_rate=0.01, termination="learned", hidden=(4,)).bind(space)
        if scaled:
            model = model.with_scale(jnp.zeros(2), jnp.full(2, unit, jnp.float32))
        rows = unit * states, actions, states[:, 0], unit * nexts, ends
        state = eqx.filter_jit(model.learn)(model.init(keys[2]), jax.vmap(Transition)(*rows))
        change, reward, _ = model.predict(state.params, unit * states[0], actions[0])
        return jnp.concatenate([state.params, change / unit, reward[None]])

    small = learned(Narrow(), 1.0, scaled=False)
    np.testing.assert_allclose(learned(Wide(), 1024.0, scaled=True), small, atol=1e-4)
    without = learned(Wide(), 1024.0, scaled=False)
    assert np.abs(without - small).max() > 0.005  # the test can fail


@pytest.mark.parametrize("termination", ["known", "learned"])
def test_a_learned_model_comes_near_the_true_one(termination):
    env = envs.make("GridWorld")
    model = Learned(learning_rate=1e-3, termination=termination).bind(env)
    stored = random_transitions(env, 20_000)

    def learn(i, state):
        key = jax.random.fold_in(jax.random.key(5), i)
        chosen = jax.random.randint(key, (model.learn_batch,), 0, 20_000)
        return model.learn(state, jax.tree.map(lambda values: values[chosen], stored))

    before = jax.jit(model.init)(jax.random.key(1))
    after = jax.jit(lambda s: jax.lax.fori_loop(0, 4000, learn, s))(before)
    held_out = random_transitions(env, 2000, seed=77)

    @jax.jit
    def root_mean_square_error(state):
        errors = jax.vmap(lambda seen: model.error(state, seen, env))(held_out)
        return jnp.sqrt(errors.mean())

    # The noise alone, of deviation 0.01 on one of two coordinates, leaves an error of 0.007.
    assert root_mean_square_error(after) < 0.025 < root_mean_square_error(before)
    noise = jnp.zeros((2000, 0))
    query = jax.jit(jax.vmap(model.query, in_axes=(None, 0, 0, 0)))
    outcome = query(after, held_out.state, held_out.action, noise)
    assert np.all(jax.jit(jax.vmap(env.contains))(outcome[0]))
    assert np.abs(np.asarray(outcome[1]) - np.asarray(held_out.reward)).mean() < 0.05
    assert (np.asarray(outcome[2]) == np.asarray(held_out.terminal)).mean() > 0.99


def test_continuous_actions_enter_a_learned_model_scaled():
    class Wide(Corridor):
        action_space = spaces.Box(10.0, 30.0, (1,))

    narrow = type("Narrow", (Corridor,), {"action_space": spaces.Box(-1.0, 1.0, (1,))})
    outcomes = []
    for kind, action in ((Wide, 25.0), (narrow, 0.5)):
        model = Learned(termination="learned").bind(space_of(kind()))
        query = jax.jit(lambda *given, model=model: model.query(*given))
        state = jax.jit(lambda key, model=model: model.init(key))(jax.random.key(0))
        given = np.float32([0.5, 3.0]), np.float32([action]), np.zeros(0, np.float32)
        outcomes.append(query(state, *given))
    for wide, plain in zip(*outcomes, strict=True):
        np.testing.assert_allclose(wide, plain, rtol=1e-5)
