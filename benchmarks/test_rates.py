import json

import rates
import run


def test_operations_are_counted_by_hand():
    forward = 2 * (2 * 32 + 32 * 32 + 32 * 3)
    assert rates.flops_per_step("ER, d = 10", 0.0) == 10 * 32 * 4 * forward + forward
    more = rates.flops_per_step("Dyna-Frequency, d = 30", 33.0)
    assert more == 30 * 32 * 4 * forward + forward + 330 * forward


def test_rates_parts_and_growth_are_measured_and_written(tmp_path, monkeypatch):
    workload = "Dyna-Value, d = 10"
    for name in ("REPEATS", "WARM_UP"):
        monkeypatch.setattr(rates, name, 2)
    monkeypatch.setattr(rates, "BASE", workload)
    monkeypatch.setattr(rates, "SEEDS_ON_CPU", (2,))
    monkeypatch.setattr(rates, "GROWTH", {"state_dimension": (5,), "learner.hidden": (8,)})
    monkeypatch.setattr(run, "WORKLOADS", {workload: rates.WORKLOADS[workload]})
    monkeypatch.setattr(run, "measure", lambda *job: rates.measure(*job, seconds=0.01))
    monkeypatch.setattr(run, "measure_growth", lambda: rates.measure_growth(0.01))
    run.run(tmp_path / "bench.json", seeds=(2,))
    written = json.loads((tmp_path / "bench.json").read_text())
    (rate,) = written["rates"]
    assert 0 < rate["slowest"] <= rate["steps_per_second"] <= rate["fastest"]
    assert rate["climb_iterations"] > 0
    assert list(written["shares"][workload]) == ["whole step", "act and store", "search", "updates"]
    assert [row["varied"] for row in written["growth"]] == ["seeds", "state_dimension", "hidden"]
