"""Defaults of earlier versions, with changes made up for the tests."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from freqdyna.config.history import CONTINUOUS_ACTIONS, EVERYWHERE, Changes

from freqdyna import Config
from freqdyna.config import history
from freqdyna.envs.resolve import resolved_by_name

# As if climb_limit had been added in 0.3.0 and its default changed in 0.10.0, and so on.
MADE_UP = {
    "0.10.0": Changes(
        defaults={
            EVERYWHERE: {"climb_limit": 150, "planning_steps": 7, "discount": 0.5},
            "MazeGridWorld": {"search_states": 33},
            CONTINUOUS_ACTIONS: {"planning_steps": 2},
        }
    ),
    "0.3.0": Changes(added={"climb_limit": 100}, defaults={EVERYWHERE: {"discount": 0.9}}),
}


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.setattr(history, "HISTORY", MADE_UP)


@pytest.mark.parametrize(
    ("version", "climb_limit", "discount"),
    [("0.1.0", 100, 0.9), ("0.3.0", 150, 0.5), ("0.9.9", 150, 0.5), ("0.10.0", 200, 0.99)],
)
def test_what_is_not_set_is_as_the_version_had_it(version, climb_limit, discount):
    config = Config.of({}, version=version)
    assert (config.climb_limit, config.discount) == (climb_limit, discount)
    assert Config.of({"climb_limit": 5}, version=version).climb_limit == 5


def test_what_an_environment_decided_is_as_the_version_had_it():
    def decided(env, version):
        config = resolved_by_name(Config.of({"env": env}, version=version), version)
        return config.planning_steps, config.search_states

    assert decided("GridWorld", "0.3.0") == (7, 20)
    assert decided("GridWorld", "0.10.0") == (10, 20)
    assert decided("MazeGridWorld", "0.3.0") == (30, 33)  # its own 30 was never changed
    assert decided("MazeGridWorld", "0.10.0") == (30, 50)


@pytest.mark.parametrize("env", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_what_the_actions_decided_is_as_the_version_had_it(env):
    from freqdyna.envs import ENVIRONMENTS, make
    from freqdyna.envs.gym.space import factory_of, space_of
    from freqdyna.envs.resolve import resolved

    space = make(env) if env in ENVIRONMENTS else space_of(factory_of(env)())
    versions = ("0.1.0", "0.10.0")
    found = [resolved(Config(env=env), space, version).planning_steps for version in versions]
    assert found == [2, 5]


def test_settings_are_stored_without_new_ones_that_do_what_was_done_before():
    assert "climb_limit" not in Config(climb_limit=100).without_new_settings()
    assert Config(climb_limit=200).without_new_settings()["climb_limit"] == 200


@dataclass(frozen=True)
class Later(Config):
    """With a setting that nobody added to HISTORY."""

    new_setting: int = 7


def test_a_new_setting_that_history_lacks_changes_no_name_by_its_default():
    assert Later().without_new_settings() == Config().without_new_settings()
    assert Later(new_setting=8).without_new_settings()["new_setting"] == 8


def test_a_version_of_two_numbers_is_one_of_three():
    assert history.changed_after("0.9")
    assert not history.changed_after("0.10")


def test_versions_are_compared_as_numbers():
    assert history.last_changes("0.9.0", "Pendulum-v1") == {"discount": "0.3.0"}
    assert history.last_changes("0.10.0.dev3", "Pendulum-v1")["discount"] == "0.10.0"
    assert history.changed_after("0.9.0")
    assert not history.changed_after("0.10.0")


def test_a_default_that_changed_in_one_environment_is_a_change_there_alone():
    assert history.last_changes("0.10.0", "MazeGridWorld")["search_states"] == "0.10.0"
    assert "search_states" not in history.last_changes("0.10.0", "Pendulum-v1")
    assert "planning_steps" in history.last_changes("0.10.0", "Pendulum-v1")


def test_the_package_has_the_version_that_its_files_name():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["version"] == history.VERSION
