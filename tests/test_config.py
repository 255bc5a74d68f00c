"""Settings: their declaration in components, checks, files and presets."""

from itertools import product
from typing import Literal

import equinox as eqx
import numpy as np
import pytest
from probes import ConstantReward

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents import presets
from freqdyna.agents.algorithms import ALGORITHMS, completed, component_classes, has_setting
from freqdyna.agents.learners import DQN
from freqdyna.agents.presets import EVERYWHERE, PRESETS
from freqdyna.config import Component, Share, create, docs_of, settings_of, values_of
from freqdyna.envs import ENVIRONMENTS
from freqdyna.envs.names import env_label
from freqdyna.search_control import Frequency, SearchControl, Uniform


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 0),
        ("steps", 5e4),
        ("first_seed", -1),
        ("algorithm", 3),
        ("learn_in_warmup", 1),
        ("stepz", 3),
        ("learning_rate", 0.1),
        ("env.episode_limit", 10**11),
        ("env.reward_noise", float("inf")),
        ("env.gravity", 1.0),
        ("learner.discount", 1.5),
        ("learner.learning_rate", float("nan")),
        ("learner.learning_rate", "fast"),
        ("learner.hidden", (32, 0)),
        ("lerner.hidden", (32,)),
        ("search_control.boundary", "stop"),
        ("search_control.candidates", 3),  # of another search-control
        ("model.size", 3),  # of another model
    ],
)
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises(FreqdynaError, match=name.rpartition(".")[2]):
        completed(Config.of({"algorithm": "dyna-frequency", "model": "true"} | {name: value}))


def test_settings_that_a_run_does_not_use_cannot_be_set():
    for settings in (
        {"planning.queue_size": 3},
        {"search_control": "value"},
        {"model": "learned"},
        {"algorithm": "dyna-value", "search_control": "frequency"},
        {"algorithm": "naf", "env": "Pendulum-v1", "learner.double": True},
    ):
        with pytest.raises(FreqdynaError):
            completed(Config.of(settings))


@pytest.mark.slow
def test_every_setting_is_documented_and_has_an_allowed_default():
    for algorithm, env in product(ALGORITHMS, ENVIRONMENTS):
        config = Config(algorithm, env)
        for continuous in (True, False):
            for part in component_classes(config, continuous, False).values():
                for name, setting in settings_of(part).items():
                    assert docs_of(part)[name], (part, name)
                    assert setting.checked(name, setting.default) == setting.default


def test_every_setting_survives_a_file(tmp_path):
    config = Config.of(
        {
            "algorithm": "prioritized-er",
            "devices": 3,
            "snapshot_steps": (3, 4),
            "learner": {"hidden": [16, 8], "max_gradient_norm": None},
            "env": {"name": 'odd "name"\n', "g": 3.0, "map": "8x8", "wind": True},
        }
    )
    config.save(tmp_path / "config.toml")
    assert Config.load(tmp_path / "config.toml") == config
    whole = completed(Config("dyna"))
    whole.save(tmp_path / "config.toml")
    assert Config.load(tmp_path / "config.toml") == whole == completed(whole)


def test_names_tables_and_aliases_mean_the_same():
    flat = Config.of({"learner.discount": 0.5, "env": "GridWorld", "env.goal_reward": 2.0})
    env = {"name": "GridWorld", "goal_reward": 2.0}
    assert flat == Config.of({"learner": {"discount": 0.5}, "env": env})
    assert flat == Config.of({"gamma": 0.5, "env": env})
    assert Config.of({"seed": 3}) == Config(first_seed=3, seeds=1)
    assert Config.of({"total_timesteps": np.int64(70)}) == Config(steps=70)
    assert Config("dqn") == Config("er")
    assert flat.changed({"learner.discount": 0.6})["learner.discount"] == 0.6


class Own(Component, eqx.Module):
    """A component as a user may write it."""

    width: int = 3
    kind: Literal["a", "b"] = "a"
    share: Share = 0.5
    widths: tuple[int, ...] = (1,)
    weight: float | None = None
    array: object = None
    _hidden: int = 1
    needed: "str" = eqx.field(default="text", static=True)


def test_the_settings_of_a_users_class_are_its_fields():
    assert list(settings_of(Own)) == ["width", "kind", "share", "widths", "weight", "needed"]
    own = create("model", Own, {"widths": [2, 3], "weight": "None", "share": 1})
    assert values_of(own)["widths"] == (2, 3)
    for wrong in ({"width": 1.5}, {"kind": "c"}, {"share": 2.0}, {"widths": 3}, {"array": 1}):
        with pytest.raises(FreqdynaError):
            create("model", Own, wrong)
    with pytest.raises(FreqdynaError):
        Own(share=2.0)
    with pytest.raises(FreqdynaError):
        Frequency(step_size=-1.0)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"env": "MountainCar-v0", "env.episode_limit": 200}, "MountainCar-v0 (200 steps)"),
        ({"env": "Lake", "env.episode_limit": 7}, "Lake"),  # which limit is usual is not known
        (
            {"env": {"name": "GridWorld", "episode_limit": 9, "goal_reward": 1.0}},
            "GridWorld (9 steps, goal_reward=1.0)",
        ),
    ],
)
def test_the_name_of_an_environment_says_what_changes_its_task(settings, name):
    assert env_label(Config.of(settings)) == name


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_every_entry_of_a_preset_is_a_setting_of_some_algorithm(preset):
    tables = PRESETS[preset].tables
    for env in tables:
        name = "MountainCar-v0" if env == EVERYWHERE else env
        configs = [
            presets.config({"env": name, "algorithm": algorithm} | model, preset)
            for algorithm, recipe in ALGORITHMS.items()
            for model in ({}, {"model": "learned"} if recipe.search_control else {})
        ]
        for config in configs:
            if name in ENVIRONMENTS and not ALGORITHMS[config.algorithm].learner:
                completed(config)
        for setting in tables[env]:
            assert any(has_setting(config, setting) for config in configs), setting


def test_presets_have_the_true_model_in_built_in_environments():
    asked = {"env": "MountainCar-v0", "algorithm": "dyna"}
    for preset in PRESETS:
        assert presets.config(asked, preset).model == "true"
        assert presets.config(asked, preset, on_host=True).model is None  # one of the same name
        assert presets.config(asked | {"model": "learned"}, preset).model == "learned"


def test_a_setting_wins_over_the_preset_which_wins_over_the_defaults():
    asked = {"env": "MazeGridWorld", "algorithm": "dyna-value"}
    boundary = "search_control.boundary"
    assert completed(Config.of(asked))[boundary] == "restart"
    assert completed(presets.config(asked, "published"))[boundary] == "project"
    by_hand = presets.config(asked | {boundary: "restart"}, "published")
    assert completed(by_hand)[boundary] == "restart"
    paper = completed(presets.config(asked, "paper"))
    assert (paper["planning_steps"], paper["learner.hidden"]) == (30, (64, 64))
    assert (paper["search_control.states"], paper["learn_in_warmup"]) == (50, True)


def test_a_preset_may_depend_on_the_algorithm():
    rates = {}
    for algorithm in ("dyna-value", "dyna-frequency"):
        config = presets.config({"algorithm": algorithm}, "published")
        rates[algorithm] = config["learner.activation"], config["search_control.step_size"]
    assert rates == {"dyna-value": ("relu", 0.1), "dyna-frequency": ("tanh", 0.01)}
    with pytest.raises(FreqdynaError, match="preset"):
        presets.config({}, "papers")


def test_a_setting_beside_an_object_that_has_it_is_refused():
    with pytest.raises(FreqdynaError, match=r"search_control\.states"):
        freqdyna.check(
            "GridWorld", "dyna", search_control=Uniform(3), **{"search_control.states": 4}
        )
    with pytest.raises(FreqdynaError, match=r"learner\.learning_rate"):
        freqdyna.check("GridWorld", learner=DQN(double=True), lr=0.1)
    with pytest.raises(FreqdynaError, match="model_updates"):
        freqdyna.check("GridWorld", "dyna", model="true", planning={"model_updates": 2})


def test_a_class_of_an_environment_is_found_by_its_module():
    config = completed(Config.of({"env": "probes:ConstantReward", "env.episode_limit": 7}))
    assert config["env.episode_limit"] == 7
    assert isinstance(envs.make("probes:ConstantReward"), ConstantReward)
    with pytest.raises(FreqdynaError, match="limit"):
        completed(Config.of({"env": "probes:ConstantReward", "env.limit": 7}))
    assert "probes:ConstantReward" not in list(ENVIRONMENTS)


def test_a_setting_cannot_have_the_name_of_the_component():
    class Named(SearchControl):
        name: str = "x"

        def propose(self, search, key):
            raise NotImplementedError

    with pytest.raises(FreqdynaError, match="name"):
        settings_of(Named)
