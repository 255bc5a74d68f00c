import ctypes
import gc
import os
import signal
from pathlib import Path

# Tests compile the same small programs again and again, in several processes: share them. They are
# kept with this checkout, so that nothing depends on what another one left on the machine.
TESTS = Path(__file__).parent
_PROGRAMS = TESTS.parent / ".pytest_cache" / "programs"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_PROGRAMS))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
# Every operation of a program would carry the lines of code that called it, which nothing here
# reads; writing them takes a seventh of the time of a training. Exceptions show them all the same.
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")

from jaxtyping import install_import_hook  # noqa: E402

import freqdyna.config  # noqa: E402, F401 - checks its own types, in one sentence for the user

# A shell starts what runs in the background with Ctrl-C ignored; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are collected: what is imported stays

# Every other annotation of ours, array shapes included, is checked while the tests run.
install_import_hook("freqdyna", "typechecker.check")

import jax  # noqa: E402
import psutil  # noqa: E402
import pytest  # noqa: E402
from slow_files import SLOW_FILES  # noqa: E402

# Two devices wherever the tests run, so that the split over devices is always exercised. Asking for
# them fixes their number, which the first training would set otherwise.
jax.config.update("jax_num_cpu_devices", 2)
assert len(jax.devices()) == 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the slow files, and take them first, so that none is left for the end."""
    places = {TESTS / name: place for place, name in enumerate(SLOW_FILES)}
    for item in items:
        if item.path in places:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish():
    """Look for garbage less often: tracing creates many objects, of which nearly all stay."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _forget_compiled_programs():
    """Free the programs when they take much memory: over a whole run they come to gigabytes."""
    yield
    if psutil.Process().memory_info().rss > 2**30:
        jax.clear_caches()
        gc.collect()
        if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
            libc.malloc_trim(0)  # freed memory goes back to the system only when asked to
