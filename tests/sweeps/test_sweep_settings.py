"""The settings of a sweep's units: presets, and values that mean "unset"."""

import pytest

from freqdyna import FreqdynaError
from freqdyna.sweeps.sweep import Sweep


def test_a_preset_gives_what_the_file_does_not():
    text = 'preset = "published"\n[settings]\nclimb_limit = 5\n[vary]\nenv = ["GridWorld", "{}"]'
    car, maze = Sweep.parse(text.replace("{}", "MountainCar-v0")).configs()[::-1]
    assert (car.goal_reward, maze.goal_reward) == (1.0, 0.0)
    assert {car.climb_limit, maze.climb_limit} == {5}
    assert {car.climb_boundary, maze.climb_boundary} == {"project"}


def test_an_unset_setting_can_be_varied_and_searched():
    values = 'max_gradient_norm = ["None", 10]\nsearch_control = ["none", "value"]\n'
    sweep = Sweep.parse('[settings]\nenv = "GridWorld"\n[vary]\n' + values)
    found = [(config.max_gradient_norm, config.search_control) for config in sweep.configs()]
    assert found == [(None, None), (None, "value"), (10.0, None), (10.0, "value")]
    sweep.check_names(allow_code=False)
    searched = Sweep.parse('[search.space]\nsearch_control = {choices = ["None", "value"]}')
    searched.check_names(allow_code=False)
    assert searched.config({"search_control": "None"}).search_control is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('preset = "papers"', "unknown preset 'papers'; known, nearest first: paper,"),
        ("preset = 3", "preset is 3; it must be a name in quotes"),
        ('version = "0.2.0"', "unknown table 'version'"),
    ],
)
def test_bad_names_are_refused(line, message):
    with pytest.raises(FreqdynaError, match=message):
        Sweep.parse(line)
