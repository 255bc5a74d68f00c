import pytest
from sweeping import QUICK, Here, stored

from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """What an undisturbed sweep in one process stores."""
    out = tmp_path_factory.mktemp("reference")
    status = execute_sweep(Sweep.parse(QUICK), Storage(str(out)), Here())
    assert len(status.done) == 4
    return stored(out)
