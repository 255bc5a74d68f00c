import json

import jax
import pytest

from freqdyna.cli.bench import growth, rates, step_parts
from freqdyna.cli.bench.tables import print_growth, print_rates, print_shares, report_growth
from freqdyna.cli.main import main


def test_operations_are_counted_by_hand():
    forward = 2 * (2 * 32 + 32 * 32 + 32 * 3)
    assert rates.flops_per_step("ER, d = 10", 0.0) == 10 * 32 * 4 * forward + forward
    more = rates.flops_per_step("Dyna-Frequency, d = 30", 33.0)
    assert more == 30 * 32 * 4 * forward + forward + 330 * forward


def test_a_rate_is_measured_printed_and_written(tmp_path, capsys):
    ours = rates.measure("ER, d = 10", 2, seconds=0.05)
    assert 0 < ours.slowest <= ours.steps_per_second <= ours.fastest
    assert ours.compile_seconds > 0
    peer = rates.rate_of("ER, d = 10", "a peer", 1, [ours.steps_per_second / 50] * 3, 0.0)
    print_rates([ours, peer])
    assert "50 ×" in capsys.readouterr().out
    rates.save(tmp_path / "bench.json", [ours, peer], {"shares": {}})
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [rate["implementation"] for rate in written["rates"]] == ["freqdyna", "a peer"]


def test_a_number_of_seeds_that_cannot_be_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--seeds", "0"])
    assert "seeds is 0; it must be an integer, 1 or greater" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_refused_before_measuring(tmp_path, capsys):
    for out in (tmp_path, tmp_path / "none" / "bench.json"):
        with pytest.raises(SystemExit):
            main(["bench", "--out", str(out)])
        assert "it must be a file in a folder that exists" in capsys.readouterr().err


def test_the_parts_of_a_step_are_timed_with_its_random_numbers(monkeypatch, capsys):
    for number in ("REPEATS", "STEPS", "WARM_UP"):
        monkeypatch.setattr(step_parts, number, 2)
    parts = step_parts.shares("Dyna-Value, d = 10", 2)
    assert list(parts) == ["whole step", "act and store", "search", "updates", "random numbers"]
    assert all(time > 0 for time in parts.values())
    print_shares({"Dyna-Value, d = 10": parts})
    assert "for random numbers" in capsys.readouterr().out


def test_every_random_number_of_a_program_is_found():
    def program(key):
        first, second = jax.random.split(key)
        bits = jax.random.bits(first, (3, 4))
        return jax.lax.fori_loop(0, 2, lambda i, b: b + jax.random.bits(second, (5,))[i], bits)

    drawn = list(step_parts._draws(jax.make_jaxpr(program)(jax.random.key(0)).jaxpr))
    assert drawn == [("split", (2,)), ("bits", (3, 4)), ("bits", (5,))]


def test_cost_growth_is_measured_in_any_dimension(monkeypatch, capsys):
    monkeypatch.setattr(growth, "BASE", "ER, d = 10")  # a small program
    monkeypatch.setattr(growth, "SEEDS", 2)
    monkeypatch.setattr(growth, "SEEDS_ON_CPU", (2,))
    monkeypatch.setattr(
        growth, "measure_config", lambda *given: rates.measure_config(*given[:3], 0.01)
    )
    monkeypatch.setattr(rates, "WARM_UP", 2)
    monkeypatch.setattr(growth, "GROWTH", {"state_dimension": (5,), "hidden": (8,)})
    rows = report_growth()
    assert [(row["varied"], row["value"]) for row in rows] == [
        ("seeds", 2),
        ("state_dimension", 5),
        ("hidden", 8),
    ]
    print_growth(rows)
    assert "state_dimension" in capsys.readouterr().out
