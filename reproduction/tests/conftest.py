import os
from pathlib import Path

# Compiled programs are shared with the other tests of this checkout.
_PROGRAMS = Path(__file__).parents[2] / ".pytest_cache" / "programs"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_PROGRAMS))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
