"""Settings of models that have no effect are told, but they are no error."""

import pytest
from small import SMALL

import freqdyna
from freqdyna import Config, envs
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
    ],
)
def test_only_settings_that_nothing_uses_are_told(algorithm, settings, told):
    env = envs.make("GridWorld")
    config = resolved(Config(algorithm, env.name, **settings), env)
    assert without_effect(config, env) == told


@pytest.mark.parametrize("preset", ["paper", "published", "v0.1"])
def test_a_preset_is_for_every_algorithm(preset):
    env = envs.make("GridWorld")
    config = resolved(Config.of({"algorithm": "er", "env": env.name}, preset), env)
    assert without_effect(config, env) is None


def test_a_training_tells_them(monkeypatch):
    def stop(*_):
        raise InterruptedError

    monkeypatch.setattr(Run, "execute", stop)
    with (
        pytest.warns(UserWarning, match="rollout_length has no effect, because 'er' has no model"),
        pytest.raises(InterruptedError),
    ):
        freqdyna.train(**SMALL, rollout_length=2, progress=False)
