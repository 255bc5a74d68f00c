"""An environment of one's own, as the guide shows it."""

import importlib
from pathlib import Path

import numpy as np

import freqdyna
from freqdyna.agents.models.true import host_model
from freqdyna.envs.gym import space_of

SMALL = {
    "seeds": 2,
    "steps": 40,
    "planning_steps": 1,
    "learner.hidden": (4,),
    "batch_size": 4,
    "eval_every": 20,
    "warmup_steps": 10,
    "env.episode_limit": 30,
    "progress": False,
}


def test_an_environment_of_ones_own_trains_and_simulates(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    lake = importlib.import_module("lake").Lake
    result = freqdyna.train(lake, "er", **SMALL)
    assert result.config.env == "Lake"
    assert np.isfinite(result.returns).all()
    assert result.policy(seed=0, env=lake)([0.5, 0.5]) in range(4)
    model = host_model(lake, space_of(lake()))
    next_states, rewards, terminals = model.ask(np.full((1, 2, 2), 0.5), np.array([[0, 3]]))
    np.testing.assert_allclose(next_states, [[[0.5, 0.6], [0.6, 0.5]]], atol=0.08)  # of wind 0.01
    assert (rewards == -1).all()
    assert not terminals.any()
