from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Clock, agent_of

from freqdyna import envs
from freqdyna.agents.dyna.agent import linear_schedule
from freqdyna.agents.dyna.diagnostics import Diagnostics
from freqdyna.search_control import Proposal

SPACE, RULES = envs.make("GridWorld"), ("frequency", "value")


@jax.jit
def searched(diagnostics, by_rule):
    """The diagnostics after a search of so many iterations and vanished steps of each rule."""
    iterations, vanished = jnp.asarray(by_rule).sum(axis=0)
    proposal = Proposal(
        states=jnp.full((1, 2), 0.5),
        count=jnp.asarray(1),
        iterations=iterations,
        restarts=jnp.asarray(0),
        vanished=vanished,
        by_rule=jnp.asarray(by_rule),
    )
    return diagnostics.after_search(proposal, SPACE, SPACE.contains, jnp.asarray(1))


def test_vanished_directions_are_a_share_of_the_steps_of_their_rule():
    both = searched(searched(Diagnostics.zero(2), [[4, 3], [6, 0]]), [[4, 1], [2, 1]])
    metrics = both.metrics(True, False, climb_rules=RULES)
    assert metrics["climb_vanished_frequency"] == 4 / 8
    assert metrics["climb_vanished_value"] == 1 / 8
    assert metrics["climb_vanished"] == 5 / 16
    again = searched(both.reset(), [[0, 0], [5, 1]]).metrics(True, False, climb_rules=RULES)
    assert np.isnan(again["climb_vanished_frequency"])
    np.testing.assert_allclose(again["climb_vanished_value"], 0.2)
    one_rule = searched(Diagnostics.zero(), [[4, 3]]).metrics(True, False)
    assert one_rule["climb_vanished"] == 3 / 4
    assert "climb_vanished_value" not in one_rule


def test_a_schedule_is_linear_and_ends_exactly_at_exploration():
    assert linear_schedule(0.9, 0.1, 0, jnp.asarray(7)) == 0.1
    amounts = [float(linear_schedule(0.9, 0.1, 100, jnp.asarray(t))) for t in (0, 25, 50, 100, 199)]
    np.testing.assert_allclose(amounts, [0.9, 0.7, 0.5, 0.1, 0.1], rtol=1e-6)
    assert amounts[-1] == np.float32(0.1)


@pytest.mark.slow
def test_an_agent_follows_its_schedule_after_the_warm_up():
    settings = {"steps": 200, "warmup_steps": 20, "scale_observations": False, "exploration": 0.0}
    settings |= {"exploration_initial": 0.8, "exploration_steps": 100, "exploration_repeats": 1}
    dyna, draws = agent_of(Clock(), **settings), 400
    state = dyna.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), draws)

    def choose(key, t):
        return dyna.choose(replace(state, key=key), t)

    steps = jnp.array([0, 20, 60, 100])
    actions = jax.jit(jax.vmap(jax.vmap(choose, (0, None)), (None, 0)))(keys, steps)
    best = jnp.argmax(dyna.learner.network(state.learner.params)(state.observation))
    shares = np.asarray((actions != best).mean(1))
    expected = np.array([1.0, 0.64, 0.32, 0.0]) / 2  # one of two random actions is the best one
    assert np.all(np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws))
