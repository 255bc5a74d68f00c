"""The page on environments of one's own, as a reader would follow it."""

import sys
from pathlib import Path

import numpy as np

import freqdyna

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
    own = train(scope["Lake"], "dyna-value", model="true", **SMALL)
    assert np.isfinite(own.parameters).all()
    sys.modules.pop("lake")


def test_a_mujoco_task_trains_by_its_name():
    settings = SMALL | {"search_states": 2, "climb_limit": 4}
    result = freqdyna.train("Hopper-v5", "dyna-naf-frequency", **settings)
    assert np.isfinite(result.returns).all()
    assert result.layer_sizes == (11, 4, 1 + 3 + 6)
