"""The page on environments of one's own, as a reader would follow it."""

import sys
from pathlib import Path

import numpy as np

import freqdyna
from freqdyna.agents.models.host_model import host_model
from freqdyna.envs.gym.space import space_of

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "lake.py"
PAGE = (ROOT / "docs" / "bring-your-own-environment.md").read_text()
SMALL = {
    "seeds": 2,
    "steps": 40,
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "eval_every": 20,
    "warmup_steps": 10,
    "episode_limit": 30,
    "progress": False,
}


def test_the_page_shows_the_example_as_it_is():
    assert f"```python\n{EXAMPLE.read_text()}```" in PAGE


def test_the_calls_of_the_page_train_with_both_examples(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    train = freqdyna.train
    trained = []

    def small(env, algorithm, **settings):
        trained.append(train(env, algorithm, **settings | SMALL))
        return trained[-1]

    monkeypatch.setattr(freqdyna, "train", small)
    blocks = [block.split("```")[0] for block in PAGE.split("```python\n")[2:]]
    scope = {}
    for block in blocks:
        exec(block, scope)  # the page's own lines
    assert [result.config.algorithm for result in trained] == ["dyna-frequency", "dyna"]
    for result in trained:
        assert result.config.env == "Lake"
        assert np.isfinite(result.returns).all()
    model = host_model(scope["Lake"], space_of(scope["Lake"]()))
    next_states, rewards, terminals = model.ask(np.full((1, 2, 2), 0.5), np.array([[0, 3]]))
    np.testing.assert_allclose(next_states, [[[0.5, 0.6], [0.6, 0.5]]], atol=0.08)  # of wind 0.01
    assert (rewards == -1).all()
    assert not terminals.any()
    sys.modules.pop("lake")
