import json

import pytest

from freqdyna import bench
from freqdyna.bench_report import print_rates
from freqdyna.cli import main


def test_operations_are_counted_by_hand():
    forward = 2 * (2 * 32 + 32 * 32 + 32 * 3)
    assert bench.flops_per_step("ER, d = 10", 0.0) == 10 * 32 * 4 * forward + forward
    more = bench.flops_per_step("Dyna-Frequency, d = 30", 33.0)
    assert more == 30 * 32 * 4.5 * forward + forward + 330 * forward


def test_a_rate_is_measured_printed_and_written(tmp_path, capsys):
    ours = bench.measure("ER, d = 10", 2, seconds=0.05)
    assert 0 < ours.slowest <= ours.steps_per_second <= ours.fastest
    assert ours.compile_seconds > 0
    peer = bench.rate_of("ER, d = 10", "a peer", 1, [ours.steps_per_second / 50] * 3, 0.0)
    print_rates([ours, peer])
    assert "50 ×" in capsys.readouterr().out
    bench.save(tmp_path / "bench.json", [ours, peer], {"shares": {}})
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [rate["implementation"] for rate in written["rates"]] == ["freqdyna", "a peer"]


def test_a_number_of_seeds_that_cannot_be_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--seeds", "0"])
    assert "seeds is 0; it must be a whole number, 1 or greater" in capsys.readouterr().err
