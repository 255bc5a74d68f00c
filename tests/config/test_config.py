import dataclasses

import numpy as np
import pytest
from freqdyna.config.checks import keywords, value_text

from freqdyna import Config, FreqdynaError
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.search_control import HillClimb


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0; it must be an integer, 1 or greater"),
        ({"steps": 5e4}, "steps is 50000.0; it must be an integer, 1 or greater"),
        ({"seeds": True}, "seeds is True; it must be an integer, 1 or greater"),
        ({"seeds": -3}, "seeds is -3; it must be an integer, 1 or greater"),
        ({"first_seed": -1}, "first_seed is -1; it must be an integer, 0 or greater"),
        ({"warmup_steps": -1}, "warmup_steps is -1; it must be an integer, 0 or greater"),
        ({"planning_steps": -1}, "planning_steps is -1; it must be an integer, 0 or greater"),
        (
            {"env.episode_limit": 10**11},
            "episode_limit is 100000000000; it must be at most 2,147,483",
        ),
        (
            {"env.reward_noise": 1e300},
            r"reward_noise is 1e\+300; it must be at most 1e\+30 in size",
        ),
        (
            {"search_control.boundary": "stop"},
            "climb_boundary is 'stop'; it must be 'restart' or 'project'",
        ),
        ({"learner.discount": 1.5}, "discount is 1.5; it must be between 0 and 1"),
        ({"exploration": -0.1}, "exploration is -0.1; it must be between 0 and 1"),
        ({"learner.learning_rate": -1.0}, "learning_rate is -1.0; it must be 0 or greater"),
        ({"learner.learning_rate": float("nan")}, "learning_rate is nan; it must be 0 or greater"),
        ({"learner.learning_rate": "fast"}, "learning_rate is 'fast'; it must be 0 or greater"),
        ({"learner.max_gradient_norm": 0}, "max_gradient_norm is 0; it must be greater than 0"),
        ({"env.reward_noise": float("inf")}, "reward_noise is inf; it must be 0 or greater"),
        ({"env.goal_reward": float("inf")}, "goal_reward is inf; it must be a finite number"),
        (
            {"learner.hidden": ()},
            r"hidden is \(\); it must be one width for each layer, such as 32 32",
        ),
        ({"learner.hidden": (32, 0)}, "hidden is 0; it must be an integer, 1 or greater"),
        ({"devices": 0}, "devices is 0; it must be an integer, 1 or greater"),
        ({"algorithm": 3}, "algorithm is 3; it must be a name"),
        ({"learn_in_warmup": 1}, "learn_in_warmup is 1; it must be True or False"),
        ({"first_seed": 2**31 - 1}, r"first_seed \+ seeds is 2147483677; it must be at most"),
        ({"steps": 10**9}, "steps × planning_steps is"),
        ({"stepz": 3}, "unknown setting 'stepz'; known, nearest first: steps, "),
        ({"gamma": 0.9}, "unknown setting 'gamma'; here it is 'discount'"),
        ({"env_kwargs": ("g",)}, "env_kwargs is 'g'; it must be key=value"),
        ({"env_kwargs": ("g=1", "g=2")}, "it must be at most one value for each key"),
        ({"env_kwargs": {"g": object}}, r"env_kwargs\['g'\] is .*; it must be a text, a number"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(settings, message):
    with pytest.raises(FreqdynaError, match=message):
        resolved_by_name(Config.of(settings))


def test_every_setting_survives_a_file(tmp_path):
    config = Config.of(
        {
            "algorithm": "prioritized-er",
            "learn_in_warmup": False,
            "devices": 3,
            "learner": {"hidden": (16, 8), "learning_rate": 1e-5},
            "env": {"name": 'odd "name"\n', "env.goal_reward": -2.5, **{"g": 3.0, "map": "8x8"}},
        }
    )
    config.save(tmp_path / "config.toml")
    assert Config.load(tmp_path / "config.toml") == config


def test_unset_settings_are_what_the_paper_sets_for_the_environment():
    maze, car = resolved_by_name(Config(env="MazeGridWorld")), resolved_by_name(Config())
    assert (maze.planning_steps, maze.hidden) == (30, (64, 64))
    assert (car.planning_steps, car.hidden) == (10, (32, 32))
    assert (
        resolved_by_name(Config.of({"env": "MazeGridWorld", "planning_steps": 5})).planning_steps
        == 5
    )
    assert (car.learn_in_warmup, maze.learn_in_warmup) == (False, False)
    assert resolved_by_name(Config(env="CartPole-v1")).episode_limit == 500
    assert not Config().is_complete
    assert car.is_complete


@pytest.mark.parametrize("text", ["None", "none"])
def test_a_text_unsets_a_setting_that_may_be_unset(text):
    config = Config.of({"env.goal_reward": text, "learner.max_gradient_norm": text}, "paper")
    assert (config.goal_reward, config.max_gradient_norm) == (None, None)
    with pytest.raises(FreqdynaError, match=f"discount is '{text}'; it must be between 0 and 1"):
        Config.of({"learner.discount": text})


def test_numbers_of_numpys_are_plain_numbers(tmp_path):
    config = Config.of(
        {
            "seeds": np.int64(2),
            "learner": {"learning_rate": np.float64(1e-3), "hidden": (np.int32(4),)},
        }
    )
    config.save(tmp_path / "config.toml")
    assert (
        Config.load(tmp_path / "config.toml")
        == config
        == Config.of({"seeds": 2, "learner": {"hidden": (4,)}})
    )


def test_files_that_are_no_configuration_are_refused(tmp_path):
    path = tmp_path / "config.toml"
    with pytest.raises(FreqdynaError, match="no configuration file at"):
        Config.load(path)
    with pytest.raises(FreqdynaError, match="cannot be read"):
        Config.load(tmp_path)
    path.write_text("steps = = 3")
    with pytest.raises(FreqdynaError, match="is not a TOML file"):
        Config.load(path)
    path.write_text("steps = 'many'")
    with pytest.raises(FreqdynaError, match="steps is 'many'; it must be an integer"):
        Config.load(path)


def test_every_setting_is_documented():
    import inspect

    source = inspect.getsource(Config)
    for field in dataclasses.fields(Config):
        declaration = source.index(f"    {field.name}: ")
        assert source[declaration:].split("\n")[1].strip().startswith('"""'), field.name


def test_what_only_an_environment_can_decide_is_refused_while_it_is_unset():
    message = "search_states is None; it must be set, or resolved with an environment"
    with pytest.raises(FreqdynaError, match=message):
        HillClimb.from_config(Config())
    assert HillClimb.from_config(resolved_by_name(Config(env="MazeGridWorld"))).states == 50


def test_arguments_of_the_environment_are_texts_that_keep_their_values():
    values = {"g": 3.0, "n": 2, "wind": True, "map": "8x8", "text": "2", "none": None, "sizes": [1]}
    config = Config.of({**{"env.**": values}})
    assert config.env_kwargs[:4] == ("g=3.0", "n=2", "wind=True", "map=8x8")
    assert keywords(config.env_kwargs) == values
    assert (
        Config.of({**{"env.**": config.env_kwargs}}) == config == Config.of({"env_kwargs": values})
    )
    assert keywords(("a=b=c", "deep=" + "[" * 500, "long=" + "1" * 5000))["a"] == "b=c"
    assert {value_text("env_kwargs", v) for v in (values, config.env_kwargs)} == {
        " ".join(config.env_kwargs)
    }
    assert value_text("env_kwargs", {}) == "none"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"env": "MountainCar-v0"}, "MountainCar-v0"),
        ({"env": "MountainCar-v0", "env.episode_limit": 2000}, "MountainCar-v0"),
        ({"env": "MountainCar-v0", "env.episode_limit": 200}, "MountainCar-v0 (200 steps)"),
        ({"env": "CartPole-v1", "env.episode_limit": 500}, "CartPole-v1"),
        ({"env": "Lake", "env.episode_limit": 7}, "Lake"),  # which limit is usual is not known
        (
            {"env": "LunarLander-v3", "env_kwargs": {"wind": True, "gravity": -5}},
            "LunarLander-v3 (gravity=-5, wind=True)",
        ),
        (
            {"env": "GridWorld", "env.episode_limit": 9, "env_kwargs": {"size": 2}},
            "GridWorld (9 steps, size=2)",
        ),
    ],
)
def test_the_name_of_an_environment_says_what_changes_its_task(settings, name):
    assert Config.of({**settings}).env_name == name


def test_dqn_is_another_name_of_er():
    assert Config(algorithm="dqn") == Config(algorithm="DQN") == Config(algorithm="er")
    assert Config.of({"algorithm": "dqn"}, "published").activation == "relu"
