import numpy as np
import pytest
from until import returns_until

pytestmark = pytest.mark.learning


def test_er_learns_mountain_car():
    settings = {"env": "MountainCar-v0", "algorithm": "er", "warmup_steps": 0}
    returns = returns_until(2, -200, seeds=6, steps=20_000, **settings)
    assert np.all(returns[:, 0] == -2000)
    # With 100 seeds on a GPU half of them had an evaluation above -200 by step 12,250. If four in
    # five have by step 20,000, fewer than two of six is a false alarm once in 600 draws of seeds.
    assert (returns > -200).any(axis=1).sum() >= 2


def test_dyna_frequency_learns_mountain_car():
    settings = {"env": "MountainCar-v0", "algorithm": "dyna-frequency", "eval_every": 250}
    # It learns in half of the steps if the target network is copied four times as often.
    settings |= {"warmup_steps": 1000, "learner.target_period": 250, "scale_observations": True}
    returns = returns_until(2, -200, seeds=4, steps=5_000, **settings)
    # Of 30 other seeds all had an evaluation above -200 by step 4,250. If nine in ten have here by
    # step 5,000, fewer than two of four is a false alarm once in 270 draws of seeds.
    assert (returns > -200).any(axis=1).sum() >= 2
