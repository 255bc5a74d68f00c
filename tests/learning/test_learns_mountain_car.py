import numpy as np
import pytest

import freqdyna

pytestmark = pytest.mark.learning


def test_er_learns_mountain_car():
    result = freqdyna.train(
        "MountainCar-v0", "er", seeds=6, steps=20_000, warmup_steps=0, progress=False
    )
    assert np.all(result.returns[:, 0] == -2000)
    # With 100 seeds on a GPU half of them had an evaluation above -200 by step 12,250. If four in
    # five have by step 20,000, fewer than two of six is a false alarm once in 600 draws of seeds.
    solved = (result.returns > -200).any(axis=1)
    assert solved.sum() >= 2


def test_dyna_frequency_learns_mountain_car():
    result = freqdyna.train(
        "MountainCar-v0", "dyna-frequency", seeds=4, steps=10_000, eval_every=1000, progress=False
    )
    # With 100 seeds on a GPU 86% of them had an evaluation above -200 by step 8,000 and 99% by
    # step 10,000, at twice as many evaluations. If seven in ten have here, fewer than two of four
    # is a false alarm once in 12 draws of seeds; if nine in ten have, once in 270.
    solved = (result.returns > -200).any(axis=1)
    assert solved.sum() >= 2
