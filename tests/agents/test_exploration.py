import jax
import jax.numpy as jnp
import numpy as np
from probes import Clock

from freqdyna import Config
from freqdyna.agents import algorithms
from freqdyna.agents.base import linear_schedule


def test_a_schedule_is_linear_and_ends_exactly_at_exploration():
    assert linear_schedule(0.9, 0.1, 0.0, 200) is None
    schedule = linear_schedule(0.9, 0.1, 0.5, 200)
    amounts = [float(schedule(jnp.asarray(t))) for t in (0, 25, 50, 100, 199)]
    np.testing.assert_allclose(amounts, [0.9, 0.7, 0.5, 0.1, 0.1], rtol=1e-6)
    assert amounts[-1] == np.float32(0.1)


def test_an_agent_follows_its_schedule_after_the_warm_up():
    env, draws = Clock(), 400
    config = Config.of(
        {
            "env": env.name,
            "steps": 200,
            "warmup_steps": 20,
            "exploration": 0.0,
            "exploration_initial": 0.8,
            "exploration_fraction": 0.5,
            "scale_observations": False,
            "learner": {"hidden": (4,)},
        }
    )
    dyna = algorithms.build(config, env)
    state = dyna.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), draws)

    def choose(key, t):
        return dyna.choose(type(state)(**{**vars(state), "key": key}), t)

    steps = jnp.array([0, 20, 60, 100])
    actions = jax.jit(jax.vmap(jax.vmap(choose, (0, None)), (None, 0)))(keys, steps)
    best = jnp.argmax(dyna.learner.network(state.learner.params)(state.observation))
    shares = np.asarray((actions != best).mean(1))
    expected = np.array([1.0, 0.64, 0.32, 0.0]) / 2  # one of two random actions is the best one
    assert np.all(np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws))
