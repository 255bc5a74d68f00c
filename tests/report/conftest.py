import shutil

import pytest

import freqdyna

HOSTILE = "<img src=x onerror=window.hacked=1>"
SETTINGS = {
    "env": "GridWorld",
    "seeds": 2,
    "steps": 40,
    "warmup_steps": 5,
    "planning_steps": 1,
    "search_states": 4,
    "batch_size": 4,
    "hidden": (8, 8),
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
    facts = home / "dyna-value" / "provenance.json"
    text = facts.read_text().replace(
        '"command": "', '"command": "</script><script>hacked=1//`<b>` '
    )
    facts.write_text(text)
    yield home
    shutil.rmtree(home)
