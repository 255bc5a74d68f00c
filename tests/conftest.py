import os
import tempfile
from pathlib import Path

# Tests compile the same small programs again and again, in several processes: share them.
_CACHE = Path(tempfile.gettempdir()) / f"freqdyna-tests-{os.getuid()}"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

from jaxtyping import install_import_hook  # noqa: E402

import freqdyna.config  # noqa: E402, F401 - checks its own types, in one sentence for the user

# Every other annotation of ours, array shapes included, is checked while the tests run.
install_import_hook("freqdyna", "typechecker.check")

import jax  # noqa: E402

# Two devices wherever the tests run, so that the split over devices is always exercised.
jax.config.update("jax_num_cpu_devices", 2)
