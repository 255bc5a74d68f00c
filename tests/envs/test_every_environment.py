"""Environments of every kind train through the same command, whatever they are stepped by."""

import numpy as np
import pytest

import freqdyna
from freqdyna.cli.main import main

SMALL = "--seeds 2 --steps 24 --warmup-steps 8 --planning-steps 1 --hidden 8 --batch-size 4 "
SMALL += "--search-states 3 --climb-limit 10 --eval-every 12 --episode-limit 20"


@pytest.mark.parametrize(
    ("env", "algorithm"),
    [
        ("CartPole-v1", "er"),
        ("Acrobot-v1", "dyna-frequency"),
        ("Pendulum-v1", "dyna-naf-value"),
        ("TubeGridWorld-3", "dyna-uniform"),
        ("MountainCarContinuous-v0", "naf"),
        ("Hopper-v5", "dyna-naf-frequency"),
    ],
)
def test_it_trains_from_the_command_line(env, algorithm, tmp_path):
    out, settings = tmp_path / "run", SMALL
    if "dyna" not in algorithm:
        settings = settings.replace("--search-states 3 --climb-limit 10 ", "")
    main(["train", "--env", env, "--algorithm", algorithm, "--out", str(out), *settings.split()])
    result = freqdyna.load(out)
    assert result.config.env == env
    assert result.returns.shape == (2, 2)
    assert np.isfinite(result.returns).all()
    assert np.isfinite(result.parameters).all()
    if env == "Hopper-v5":
        assert result.layer_sizes == (11, 8, 1 + 3 + 6)  # V, best action and form of 3 joints
