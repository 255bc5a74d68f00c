"""A later version with a new setting and changed defaults reads what version 0.1 wrote.

The later version is a copy of the package with a few lines changed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import freqdyna
from freqdyna.config import VERSION

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures" / "version-0.1"
NEW_SETTING = '    new_setting: Count = 7\n    """Made up."""\n'
NEW_FIELD = "    walls_hurt: bool = eqx.field(default=False, static=True)\n"
CHANGES = {
    "config/config.py": [
        # A new setting; older versions did what 3 does.
        ("    devices: Count", f"{NEW_SETTING}    devices: Count"),
        ("    discount: Share = 0.99\n", "    discount: Share = 0.9\n"),
        ('{"otherwise": 20}', '{"otherwise": 25}'),  # search_states
    ],
    "config/history.py": [
        (f'VERSION = "{VERSION}"', 'VERSION = "0.3.0"'),
        (
            "HISTORY: dict[str, Changes] = {\n",
            'HISTORY: dict[str, Changes] = {"0.3.0": Changes(added={"new_setting": 3}, '
            'defaults={EVERYWHERE: {"discount": 0.99, "search_states": 20}}),\n',
        ),
    ],
    # Its search-control and environment have new fields, too.
    "search_control/hill_climb.py": [
        ("    traced: bool =", "    extra: int = eqx.field(static=True)\n    traced: bool ="),
        ("            step_size=config", "            extra=config.new_setting, step_size=config"),
    ],
    "envs/walled_square.py": [
        ("    reward_noise: float =", f"{NEW_FIELD}    reward_noise: float ="),
    ],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the later version finds in files of version 0.1."""
    later, files = tmp_path_factory.mktemp("later"), tmp_path_factory.mktemp("files")
    package = later / "freqdyna"
    shutil.copytree(Path(freqdyna.__file__).parent, package)
    for name, changes in CHANGES.items():
        text = (package / name).read_text()
        for old, new in changes:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (package / name).write_text(text)
    shutil.copytree(FIXTURES, files, dirs_exist_ok=True)
    command = [sys.executable, str(HERE / "after_upgrade.py"), str(files)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(later)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((files / "found.json").read_text()) | {"output": done.stdout}


def test_the_later_version_differs(found):
    assert found["version"] == "0.3.0"
    assert found["today"] == [7, 0.9]


def test_an_interrupted_run_resumes_to_its_end(found):
    resumed = found["resumed"]
    assert resumed["settings"] == [3, 3, 3]
    assert resumed["steps"] == [20, 40, 60]
    for name, values in resumed["stored"].items():
        np.testing.assert_allclose(resumed["first"][name], values, rtol=1e-4, err_msg=name)
    assert resumed["same_again"]


def test_a_sweep_finds_its_units_and_keeps_its_defaults(found):
    assert found["done_before"] == 4
    assert found["recomputed"] == []
    kept = {"new_setting": 3, "discount": 0.99, "search_states": 20, "scale_observations": False}
    assert found["sweep"] == {"version": "0.1.0", "done": 4, "kept": kept, "loaded": 2}
    assert "this sweep was started with version 0.1.0 and keeps its defaults" in found["output"]
    assert "discount 0.99" in found["output"]


def test_a_stored_training_is_that_of_its_experiment(found):
    expected = {"condition": "stored", "rows": 6030, "new_setting": 3, "discount": 0.99}
    assert found["training"] == expected
