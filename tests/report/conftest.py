import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import freqdyna

EXPLORED = Path(__file__).parents[2] / "results" / "explorer"
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="session")
def cars():
    """Stored runs of four agents on MountainCar, of five seeds each, with snapshots."""
    return [freqdyna.load(folder) for folder in sorted(EXPLORED.glob("mountain-car-*"))]


@pytest.fixture(scope="session")
def mazes():
    """Stored runs of four agents in the maze, of two seeds each, with snapshots."""
    return [freqdyna.load(folder) for folder in sorted(EXPLORED.glob("maze-*"))]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory, mazes):
    """A folder of two runs, whose names and facts try to become markup."""
    home = tmp_path_factory.mktemp("runs") / HOSTILE
    home.mkdir()
    facts = mazes[0].provenance | {"command": "</script><script>hacked=1//`<b>`"}
    config = replace(mazes[1].config, env=f"{HOSTILE} $x$")
    replace(mazes[0], provenance=facts).save(home / "one")
    replace(mazes[1], config=config, snapshots={}).save(home / "other")
    yield home
    shutil.rmtree(home)
