import shutil

import pytest

import freqdyna
from freqdyna.report import page
from freqdyna.results.folder import begin, read_config, read_provenance
from freqdyna.sweeps.load import find

HOSTILE = "<img src=x onerror=window.hacked=1>"
SETTINGS = {
    "env": "GridWorld",
    "seeds": 2,
    "steps": 40,
    "warmup_steps": 5,
    "planning_steps": 1,
    "search_states": 4,
    "batch_size": 4,
    "hidden": (4,),
    "episode_limit": 30,
    "eval_every": 10,
    "snapshot_steps": (10, 40),
    "progress": False,
}


@pytest.fixture(scope="session")
def run_folders(tmp_path_factory):
    """Runs of two algorithms, in a folder whose name and facts try to become markup."""
    home = tmp_path_factory.mktemp("runs") / HOSTILE
    home.mkdir()
    for algorithm in ("dyna-value", "dyna-frequency"):
        freqdyna.train(algorithm=algorithm, out=home / algorithm, **SETTINGS)
    folder = home / "dyna-value"
    facts = read_provenance(folder)
    facts["command"] = "</script><script>hacked=1//`<b>` " + facts["command"]
    begin(folder, read_config(folder), facts)
    yield home
    shutil.rmtree(home)


def gathered(*locations):
    """The content of a report of the trainings at locations."""
    known = set()
    trainings = [training for location in locations for training in find(location, known)]
    names, results = zip(*trainings, strict=True)
    return page.report(results, names, "freqdyna report")
