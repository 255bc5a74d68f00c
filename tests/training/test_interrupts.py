import gc
import importlib
import signal
import subprocess
import sys
import threading

import pytest

from freqdyna.training.interrupts import signals_as_interrupts, stop_requests


@pytest.fixture(autouse=True)
def _terminal():
    """Signals have their default effects, even if the tests run with nohup or in the background."""
    usual = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_closed_terminal_is_a_request_to_stop():
    with stop_requests(can_be_resumed=True) as requested:
        assert not requested.is_set()
        for _ in range(3):  # the shell and the system each send it
            signal.raise_signal(signal.SIGHUP)
        assert requested.is_set()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_with_nohup_a_closed_terminal_changes_nothing():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with signals_as_interrupts(), stop_requests(can_be_resumed=True) as requested:
        signal.raise_signal(signal.SIGHUP)
        assert not requested.is_set()


def test_a_second_ctrl_c_stops_immediately():
    interrupted = stopped = False
    with stop_requests(can_be_resumed=True) as requested:
        signal.raise_signal(signal.SIGINT)
        interrupted = requested.is_set()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            stopped = True
    assert interrupted
    assert stopped


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_interrupt_a_command_as_ctrl_c_does(number):
    before = signal.getsignal(signal.SIGTERM)
    with signals_as_interrupts():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        if number == signal.SIGHUP:
            signal.raise_signal(number)  # the command is saving its work now
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_a_signal_during_garbage_collection_interrupts_after_it():
    """Python drops an exception that is raised in a callback of the garbage collector."""

    def callback(phase, _):
        if phase == "start":
            gc.callbacks.remove(callback)
            signal.raise_signal(signal.SIGTERM)

    def collect():
        gc.collect()
        threading.Event().wait(1200)

    gc.callbacks.append(callback)
    with signals_as_interrupts(), pytest.raises(KeyboardInterrupt):
        collect()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_an_import_interrupts_after_it(number, tmp_path, monkeypatch):
    """A module may catch an exception that is raised while it is imported, and print it."""
    code = f"import signal\nsignal.raise_signal({int(number)})\nFINISHED = True"
    (tmp_path / "interrupted_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    finished = []

    def imports():
        finished.append(importlib.import_module("interrupted_module").FINISHED)
        threading.Event().wait(1200)

    with signals_as_interrupts(), pytest.raises(KeyboardInterrupt):
        imports()
    assert finished == [True]
    sys.modules.pop("interrupted_module")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_jax_finds_its_devices_interrupts_after_it(number):
    """JAX catches and prints any exception of a plugin for accelerators, and continues."""
    code = "def discover(raise_signal, number):\n    raise_signal(number)\n    return True"
    exec(code, of_jax := {"__name__": "jax._src.xla_bridge"})
    finished = []

    def starts():
        finished.append(of_jax["discover"](signal.raise_signal, number))
        threading.Event().wait(1200)

    with signals_as_interrupts(), pytest.raises(KeyboardInterrupt):
        starts()
    assert finished == [True]


def test_ctrl_c_during_an_import_is_one_line():
    script = """
import signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "tyro":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from freqdyna.__main__ import main
main()
"""
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "freqdyna: interrupted\n")


def test_a_failed_command_ends_without_waiting_for_threads_of_the_compiler():
    script = """
import atexit, sys
import freqdyna.cli.main as _
def fail():
    sys.stdout.write("before")
    sys.exit(3)
sys.modules["freqdyna.cli.main"].main = fail
from freqdyna.__main__ import main
atexit.register(lambda: print(", skipped"))
try:
    main()
finally:
    atexit.register(lambda: print(" and after"))
"""
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "before and after\n")


def test_ctrl_c_after_the_end_of_a_command_changes_nothing():
    script = """
import atexit, signal, sys
import freqdyna.cli.main as _
sys.modules["freqdyna.cli.main"].main = lambda: print("done")
from freqdyna.__main__ import main
atexit.register(lambda: signal.raise_signal(signal.SIGINT))
main()
"""
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
