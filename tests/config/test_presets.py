"""Presets, and what wins over what."""

import re
from dataclasses import asdict
from itertools import product

import pytest
from freqdyna.config.presets import EVERYWHERE, preset_settings
from freqdyna.config.tuned import TUNED

import freqdyna
from freqdyna import Config, FreqdynaError
from freqdyna.cli.train import train_defaults
from freqdyna.config import PRESETS
from freqdyna.envs.resolve import resolved_by_name


@pytest.mark.parametrize("name", PRESETS)
def test_every_entry_is_a_setting_with_an_allowed_value(name):
    for env, algorithm in product(PRESETS[name].tables, ("naf", *PRESETS[name].by_algorithm)):
        named = {"env": "MountainCar-v0" if env == EVERYWHERE else env, "algorithm": algorithm}
        settings = preset_settings(name, **named) | named
        config = asdict(Config.of(named, name))
        assert {k: config[k] for k in settings} == settings


def test_a_setting_given_wins_over_the_preset_which_wins_over_the_environment():
    default = resolved_by_name(Config(env="MazeGridWorld"))
    published = resolved_by_name(Config.of({"env": "MazeGridWorld"}, "published"))
    by_hand = Config.of({"env": "MazeGridWorld", "search_control.boundary": "restart"}, "published")
    assert (default.climb_boundary, published.climb_boundary) == ("restart", "project")
    assert by_hand.climb_boundary == "restart"
    assert published.planning_steps == default.planning_steps == 30  # not in the table
    paper = resolved_by_name(Config.of({"env": "GridWorld"}, "paper"))
    assert (paper.learn_in_warmup, default.learn_in_warmup) == (True, False)


def test_a_preset_depends_on_the_environment():
    assert Config.of({}, "paper").hidden == (32, 32)
    assert Config.of({"env": "MazeGridWorld"}, "paper").hidden == (64, 64)
    assert Config.of({}, "published").goal_reward == 1.0
    assert Config.of({"env": "GridWorld"}, "published").goal_reward == 0.0


def test_a_preset_may_depend_on_the_algorithm():
    def published(**given):
        config = Config.of(given, "published")
        return config.activation, config.climb_step_size

    assert published() == published(algorithm="er") == ("relu", 0.01)
    assert published(algorithm="dyna-value") == ("relu", 0.1)
    assert published(algorithm="dyna-frequency", env="GridWorld") == ("tanh", 0.01)
    assert published(algorithm="dyna-value", learner={"activation": "silu"}) == ("silu", 0.1)
    by_options = train_defaults(["train", "--preset=published", "--algorithm", "dyna-value"])
    assert by_options.settings.climb_step_size == 0.1


@pytest.mark.parametrize("name", ["papers", 3])
def test_an_unknown_preset_is_refused_with_the_known_names(name):
    with pytest.raises(FreqdynaError, match=f"unknown preset '{name}'; known, .*paper"):
        Config.of({}, name)


def test_training_with_a_preset_keeps_its_name_and_what_it_came_to(tmp_path):
    small = {"steps": 20, "eval_every": 20, "warmup_steps": 10, "planning_steps": 1, "seeds": 1}
    small |= {
        "replay.capacity": 40,
        "learner.hidden": (4,),
        "env.episode_limit": 10,
        "progress": False,
    }
    result = freqdyna.train("GridWorld", preset="published", out=tmp_path / "run", **small)
    assert result.provenance["preset"] == "published"
    assert result.config.climb_noise_scales == "deviation"
    assert result.config.buffer_size == 40
    assert freqdyna.load(tmp_path / "run").config == result.config


@pytest.mark.parametrize("env", TUNED)
def test_the_tuned_preset_chooses_the_algorithm_unless_one_is_given(env):
    tuned = Config.of({"env": env}, "tuned")
    assert (tuned.algorithm, tuned.steps) == (TUNED[env]["algorithm"], TUNED[env]["steps"])
    assert train_defaults(["train", "--preset=tuned", "--env", env]).settings == tuned
    given = {"env": env, "algorithm": "dqn", "steps": 7}
    other = Config.of(given, "tuned")
    assert (other.algorithm, other.steps, other.eval_episodes) == ("er", 7, tuned.eval_episodes)


def test_the_tuned_preset_without_an_environment_is_for_the_default_one():
    assert Config.of({}, "tuned") == Config.of({"env": "MountainCar-v0"}, "tuned")


@pytest.mark.parametrize("env", ["GridWorld", "cartpole", 3])
def test_the_tuned_preset_refuses_other_environments_and_lists_its_own(env):
    known = "CartPole-v1, Acrobot-v1, MountainCar-v0, LunarLander-v3, Pendulum-v1"
    said = f"env is {env!r}, for which preset 'tuned' has no settings; it has them for {known}"
    with pytest.raises(FreqdynaError, match=f"^{re.escape(said)}$"):
        Config.of({"env": env}, "tuned")


def test_training_in_python_takes_the_algorithm_of_the_preset_too(monkeypatch):
    class Prepared(Exception):
        """Instead of training."""

    def prepare(config, *_, **__):
        raise Prepared(config)

    def trained(**given):
        with pytest.raises(Prepared) as stopped:
            freqdyna.train("CartPole-v1", **given)
        return stopped.value.args[0]

    monkeypatch.setattr("freqdyna.training.api.prepare", prepare)
    assert trained(preset="tuned") == Config.of({"env": "CartPole-v1"}, "tuned")
    assert trained(preset="tuned", algorithm="er").algorithm == "er"
    assert trained() == Config(env="CartPole-v1", algorithm="er")
