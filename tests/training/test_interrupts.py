import signal

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
    with stop_requests(can_be_resumed=True) as requested:
        signal.raise_signal(signal.SIGINT)
        assert requested.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


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
