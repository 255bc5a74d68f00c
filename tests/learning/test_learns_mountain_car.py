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
    settings = {"env": "MountainCar-v0", "algorithm": "dyna-frequency", "eval_every": 500}
    settings["learn_in_warmup"] = True  # else half of the steps would pass without an update
    returns = returns_until(2, -200, seeds=4, steps=10_000, **settings)
    # With 100 seeds on a GPU 86% of them had an evaluation above -200 by step 8,000 and 99% by
    # step 10,000. If 95 in 100 have here, fewer than two of four is a false alarm once in 2,000
    # draws of seeds; if nine in ten have, once in 270.
    assert (returns > -200).any(axis=1).sum() >= 2
