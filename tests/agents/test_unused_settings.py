"""Settings of models and search-controls without effect are told, but they are no error."""

import pytest
from small import SMALL

import freqdyna
from freqdyna import Config, envs
from freqdyna.agents.algorithms import build
from freqdyna.agents.unused_settings import without_effect
from freqdyna.envs.resolve import resolved
from freqdyna.training.run import Run

NO_MODEL = "because 'er' has no model"


@pytest.mark.parametrize(
    ("algorithm", "settings", "told"),
    [
        ("er", {}, None),
        ("er", {"rollout_length": 3}, f"rollout_length has no effect, {NO_MODEL}"),
        (
            "er",
            {"model_hidden": (8,), "model_termination": "learned"},
            f"model_termination, model_hidden have no effect, {NO_MODEL}",
        ),
        ("dyna-value", {"rollout_length": 3}, None),
        (
            "dyna-value",
            {"ensemble_size": 3},
            "ensemble_size has no effect, because model is 'true'",
        ),
        ("dyna-value", {"ensemble_size": 3, "model": "ensemble"}, None),
        ("dyna-value", {"ensemble_size": 3, "model": "my:Model"}, None),
        ("er", {"climb_limit": 7}, None),
        (
            "er",
            {"search_candidates": 7, "model_updates": 2},
            f"model_updates, search_candidates have no effect, {NO_MODEL}",
        ),
        (
            "dyna-uniform",
            {"search_candidates": 7, "ensemble_size": 3},
            "ensemble_size has no effect, because model is 'true'; search_candidates has no "
            "effect, because the search-control is 'uniform'",
        ),
        ("dyna-td-error", {"search_candidates": 7}, None),
        (
            "dyna-td-error",
            {"mixture": ("uniform",), "climb_iterations": 2},
            "mixture, climb_iterations have no effect, because the search-control is 'td-error'",
        ),
        ("dyna-mixture", {"mixture": ("td-error", "td-climb"), "search_candidates": 7}, None),
        ("dyna-mixture", {"mixture": ("mine", "uniform"), "search_candidates": 7}, None),
        (
            "dyna-bandit",
            {"mixture_shares": (0.5, 0.5), "bandit_rate": 0.2},
            "mixture_shares has no effect, because the search-control is 'bandit'",
        ),
        ("dyna", {"search_control": "my:Control", "search_candidates": 7}, None),
        (
            "dyna",
            {"search_control": "value", "search_candidates": 7},
            "search_candidates has no effect, because the search-control is 'value'",
        ),
    ],
)
def test_only_settings_that_nothing_uses_are_told(algorithm, settings, told):
    env = envs.make("GridWorld")
    config = resolved(Config(algorithm, env.name, **settings), env)
    assert without_effect(config, env) == told


@pytest.mark.parametrize("preset", ["paper", "published", "v0.1"])
@pytest.mark.parametrize(("name", "algorithm"), [("GridWorld", "er"), ("Pendulum-v1", "naf")])
def test_a_preset_is_for_every_algorithm(name, algorithm, preset):
    env = envs.make(name)
    config = resolved(Config.of({"algorithm": algorithm, "env": name}, preset), env)
    assert without_effect(config, env) is None
    build(config, env)  # does not refuse the model that is not used


def test_a_training_tells_them(monkeypatch):
    def stop(*_):
        raise InterruptedError

    monkeypatch.setattr(Run, "execute", stop)
    with (
        pytest.warns(UserWarning, match="rollout_length has no effect, because 'er' has no model"),
        pytest.raises(InterruptedError),
    ):
        freqdyna.train(**SMALL, rollout_length=2, progress=False)
