import json

import rates
import run


def test_operations_are_counted_by_hand():
    forward = 2 * (2 * 32 + 32 * 32 + 32 * 3)
    assert rates.flops_per_step("ER, d = 10", 0.0) == 10 * 32 * 4 * forward + forward
    more = rates.flops_per_step("Dyna-Frequency, d = 30", 33.0)
    assert more == 30 * 32 * 4 * forward + forward + 330 * forward


def test_one_setting_at_a_time_grows(monkeypatch):
    monkeypatch.setattr(rates, "warm", lambda run: run.config)
    monkeypatch.setattr(rates, "measure_warm", lambda name, config, seconds: config)
    measured = list(rates.measure_growth())
    assert [value for name, value, config in measured if name == "learner.hidden"] == [
        *(16, 32, 64, 128)
    ]
    for name, value, config in measured:
        if name == "state_dimension":
            assert config.env == f"box-{value}"
        else:
            assert config[name] == ((value, value) if name == "learner.hidden" else value)


def test_rates_and_parts_are_measured_and_written(tmp_path, monkeypatch):
    workload = "ER, d = 10"
    for name in ("REPEATS", "WARM_UP"):
        monkeypatch.setattr(rates, name, 2)
    monkeypatch.setattr(run, "WORKLOADS", {workload: rates.WORKLOADS[workload]})
    monkeypatch.setattr(run, "measure", lambda *job: rates.measure(*job, seconds=0.01))
    run.run(tmp_path / "bench.json", seeds=(2,), growth=False)
    written = json.loads((tmp_path / "bench.json").read_text())
    (rate,) = written["rates"]
    assert 0 < rate["slowest"] <= rate["steps_per_second"] <= rate["fastest"]
    assert list(written["shares"][workload]) == ["whole step", "act and store", "updates"]
