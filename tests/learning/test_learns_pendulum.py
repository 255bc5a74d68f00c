"""NAF on a task with continuous actions."""

import pytest
from until import seeds_that_learn

pytestmark = pytest.mark.learning


def test_naf_learns_to_swing_up():
    settings = {"env": "Pendulum-v1", "algorithm": "naf", "seeds": 6, "steps": 6_000}
    settings |= {"warmup_steps": 1_000, "eval_every": 1_000, "eval_episodes": 3}
    settings |= {"batch_size": 32}
    # An untrained policy has −600 to −1,500 in one episode, and never −400 in the mean of three.
    # If three seeds in four learn, fewer than two of six is a false alarm once in 200 draws of
    # seeds; if nine in ten do, once in 18,000.
    assert seeds_that_learn(2, -400, **settings) >= 2
