"""The settings of a sweep's units: presets, and defaults of the version that began the sweep."""

from pathlib import Path

import pytest
from freqdyna.config.history import EVERYWHERE, Changes

from freqdyna import FreqdynaError
from freqdyna.config import VERSION, history
from freqdyna.core.checksums import toml_with_checksum
from freqdyna.sweeps.status import stored_sweep, version_at
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep, SweepUnit

STORED = Path(__file__).parents[1] / "fixtures" / "version-0.1" / "sweep"
ON_HOST = """
[settings]
env = "MountainCarContinuous-v0"
algorithm = "naf"
scale_observations = false
[seeds]
number = 1
"""
# As if this version had changed two defaults.
MADE_UP = {
    VERSION: Changes(
        added=history.added_in(VERSION),
        defaults={EVERYWHERE: {"climb_limit": 100, "planning_steps": 3}},
    )
}


def test_units_have_the_names_that_version_0_1_gave_them():
    names = {path.stem for path in (STORED / "units").glob("*.parquet")}
    assert {unit.name for unit in stored_sweep(Storage(str(STORED))).units()} == names


def test_a_unit_survives_as_plain_data():
    unit = SweepUnit(Sweep.parse(ON_HOST).units()[0].config, 3, "0.1.5")
    assert SweepUnit.of(unit.settings, 3) == unit


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
        ("version = 0.2", "version is 0.2; it must be a name in quotes"),
        ('versions = "0.2.0"', "unknown table 'versions'; known, nearest first: version,"),
    ],
)
def test_bad_names_are_refused(line, message):
    with pytest.raises(FreqdynaError, match=message):
        Sweep.parse(line)


def test_the_folder_of_a_sweep_remembers_the_version_that_began_it(tmp_path):
    storage, text = Storage(str(tmp_path)), "[settings]\nsteps = 5"
    assert version_at(storage) == VERSION
    storage.write("sweep.toml", Sweep.parse(text).stored(text).encode())
    assert version_at(storage) == VERSION
    assert stored_sweep(storage) == Sweep.parse(text)
    named = 'version = "0.1.7"\n' + text
    assert Sweep.parse(named).stored(named) == toml_with_checksum(named)
    assert version_at(Storage(str(STORED))) == "0.1.0"


def test_a_changed_default_leaves_older_sweeps_as_they_were(monkeypatch):
    before = [unit.name for unit in Sweep.parse(ON_HOST).units()]
    monkeypatch.setattr(history, "HISTORY", MADE_UP)
    older, newer = Sweep.parse(ON_HOST, "0.1.5"), Sweep.parse(ON_HOST)
    assert older.configs()[0].climb_limit == 100
    assert newer.configs()[0].climb_limit == 200
    assert older.kept_defaults()["climb_limit"] == 100
    # Its planning_steps are unset until a worker makes it; the name tells them apart.
    assert older.configs()[0].planning_steps is newer.configs()[0].planning_steps is None
    given = ON_HOST.replace("[seeds]", "climb_limit = 200\n[seeds]")
    names = [Sweep.parse(given, version).units()[0].name for version in ("0.1.5", VERSION)]
    assert names[0] == before[0] != names[1]
