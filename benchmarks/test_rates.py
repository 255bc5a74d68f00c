"""What is measured, without measuring it."""

import pytest
import rates


def test_operations_are_counted_by_hand():
    forward = 2 * (2 * 32 + 32 * 32 + 32 * 3)
    assert rates.flops_per_step("ER, d = 10", 0.0) == 10 * 32 * 4 * forward + forward
    more = rates.flops_per_step("Dyna-Frequency, d = 30", 33.0)
    assert more == 30 * 32 * 4 * forward + forward + 330 * forward


@pytest.mark.slow
def test_every_workload_can_be_prepared_and_one_setting_at_a_time_grows(monkeypatch):
    for settings in rates.WORKLOADS.values():
        assert rates.prepare(2, **settings).config.seeds == 2
    monkeypatch.setattr(rates, "warm", lambda run: run.config)
    monkeypatch.setattr(rates, "measure_warm", lambda name, config, seconds: config)
    measured = list(rates.measure_growth())
    sizes = [value for name, value, config in measured if name == "learner.hidden"]
    assert sizes == [16, 32, 64, 128]
    for name, value, config in measured:
        if name == "state_dimension":
            assert config.env == f"box-{value}"
        else:
            assert config[name] == ((value, value) if name == "learner.hidden" else value)
