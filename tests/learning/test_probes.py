"""Learned values against exactly known ones, on tiny environments."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import (
    ActionReward,
    Aim,
    ConstantReward,
    DelayedReward,
    Endless,
    ObservedReward,
    Probe,
    agent_of,
)

DISCOUNT = 0.8
STEPS = 1500
LIMIT = 3
CASES = {
    ConstantReward: {0.0: [1, 1]},
    ObservedReward: {-1.0: [-1, -1], 1.0: [1, 1]},
    ActionReward: {0.0: [-1, 1]},
    DelayedReward: {0.0: [DISCOUNT, DISCOUNT], 1.0: [1, 1]},
    Endless: {0.0: [1 / (1 - DISCOUNT)] * 2},
}
PROBES = [kind(episode_limit=LIMIT) for kind in CASES]


class OneOf(Probe):
    """One of the probes; its number is traced, so that one program serves for all."""

    name: ClassVar[str] = "OneOf"
    which: int = 0

    def reset(self, key):
        return jax.lax.switch(self.which, [probe.reset for probe in PROBES], key)

    def move(self, *step):
        return jax.lax.switch(self.which, [probe.move for probe in PROBES], *step)

    def terminal(self, state):
        return jax.lax.switch(self.which, [probe.terminal for probe in PROBES], state)

    def reward(self, *step):
        return jax.lax.switch(self.which, [probe.reward for probe in PROBES], *step)


@jax.jit
def trained(agent, seeds):
    """The parameters of each seed after all steps."""

    def of_one(seed):
        start = agent.init(jax.random.fold_in(jax.random.key(seed), 0))
        end = jax.lax.fori_loop(0, STEPS, lambda t, state: agent.step(state, t), start)
        return agent.parameters(end)

    return jax.vmap(of_one)(seeds)


@pytest.mark.parametrize(
    ("algorithm", "probe"),
    [("er", probe) for probe in CASES]
    + [("prioritized-er", DelayedReward), ("prioritized-er", Endless)],
    ids=lambda case: case if isinstance(case, str) else case.name,
)
def test_learned_action_values_are_the_exact_ones(algorithm, probe):
    env = OneOf(which=list(CASES).index(probe), episode_limit=LIMIT)
    settings = {"warmup_steps": 100, "exploration": 0.5, "batch_size": 32}
    settings |= {"learner.target_period": 50, "learner.target_rate": 1.0, "learner.loss": "squared"}
    settings |= {"learner.hidden": (16,), "learner.learning_rate": 3e-3, "replay.capacity": STEPS}
    agent = agent_of(env, algorithm, **settings, **{"learner.discount": DISCOUNT})
    states, values = np.float32(list(CASES[probe]))[:, None], list(CASES[probe].values())
    predict = jax.jit(jax.vmap(lambda params: jax.vmap(agent.learner.network(params))(states)))
    for learned in predict(trained(agent, np.arange(4))):
        np.testing.assert_allclose(learned, values, atol=0.05)


def test_an_actor_finds_the_best_continuous_action_and_its_critics_the_exact_values():
    settings = {"warmup_steps": 100, "batch_size": 64, "replay.capacity": STEPS}
    settings |= {"learner.hidden": (32, 32), "learner.critics": 3}
    settings |= {"learner.learning_rate": 3e-3}
    learner = (agent := agent_of(Aim(), **settings)).learner
    states, actions = jnp.array([[-1.0], [1.0]]), jnp.linspace(-1.5, 1.5, 7)[:, None]

    @jax.jit
    def of_seed(params):
        values = jax.vmap(lambda s: jax.vmap(lambda a: learner.action_value(params, s, a))(actions))
        greedy = jax.vmap(lambda s: learner.act(params, s, 0.0, jax.random.key(0)))
        return values(states), greedy(states)

    exact = -((actions[:, 0] - states) ** 2)
    near = exact > -2.5  # the policy takes hardly any of the others
    for params in trained(agent, np.arange(3)):
        values, greedy = of_seed(params)
        np.testing.assert_allclose(greedy, states, atol=0.15)
        np.testing.assert_allclose(values[near], exact[near], atol=0.4)
