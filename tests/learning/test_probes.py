"""Learned values against exactly known ones, on tiny environments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import ActionReward, ConstantReward, DelayedReward, Endless, ObservedReward

import freqdyna

DISCOUNT = 0.8
CASES = [
    (ConstantReward(), {0.0: [1, 1]}),
    (ObservedReward(), {-1.0: [-1, -1], 1.0: [1, 1]}),
    (ActionReward(), {0.0: [-1, 1]}),
    (DelayedReward(), {0.0: [DISCOUNT, DISCOUNT], 1.0: [1, 1]}),
    (Endless(), {0.0: [1 / (1 - DISCOUNT)] * 2}),
]


@pytest.mark.parametrize(
    ("algorithm", "env", "values"),
    [("er", *case) for case in CASES] + [("prioritized-er", *case) for case in CASES[-2:]],
    ids=lambda case: getattr(case, "name", case if isinstance(case, str) else ""),
)
def test_learned_action_values_are_the_exact_ones(algorithm, env, values):
    result = freqdyna.train(
        env,
        algorithm,
        seeds=4,
        steps=1500,
        planning_steps=2,
        hidden=(16,),
        learning_rate=3e-3,
        target_period=50,
        discount=DISCOUNT,
        warmup_steps=100,
        exploration=0.5,
        eval_every=1500,
        progress=False,
    )
    states = jnp.array(list(values))[:, None]
    for seed in result.seeds:
        learned = jax.vmap(result.network(seed))(states)
        np.testing.assert_allclose(learned, list(values.values()), atol=0.05)
