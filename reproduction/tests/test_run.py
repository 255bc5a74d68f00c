"""Parts are computed, stored, read and verified; small, also from the command line."""

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from flips import refused
from made_up import FACTS

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.chart import Chart, Panel
from reproduction import run, store
from reproduction.__main__ import main
from reproduction.study import QUICK, Findings, Part, Stored, Unit, curves, training


def table_part(log):
    """A part of two small tables."""

    def unit(name):
        def table():
            log.append(name)
            return {"x": np.arange(3) * len(name)}

        return Unit(name, {"size": 3}, table)

    def analyse(units):
        sums = ", ".join(str(one.columns["x"].sum()) for one in units.values())
        return Findings(Chart([Panel()]), (), notes=(sums,))

    return Part("T", "toy", "a moment", lambda quick: [unit("a"), unit("bb")], analyse)


def test_what_is_stored_is_not_computed_again(tmp_path):
    log = []
    for _ in range(2):
        findings = run.reproduce(table_part(log), tmp_path, quick=False, processes=1)
        assert findings.notes == ("3, 6",)
    assert log == ["a", "bb"]
    assert (tmp_path / "T.png").exists()
    assert run.stored(table_part(log), tmp_path)["a"].provenance["commit"]


def test_a_flipped_bit_anywhere_is_reported(tmp_path):
    run.reproduce(table_part([]), tmp_path, quick=False, processes=1)
    names = itertools.count()

    def read(damaged):
        path = tmp_path / f"{next(names)}"  # a new one each time: what was read is remembered
        path.write_bytes(damaged)
        return store.runs(path)

    assert refused((tmp_path / "T.parquet").read_bytes(), 60, read, lambda found: False) == 60


@pytest.mark.slow
def test_every_number_comes_from_a_commit():
    for path in (Path(__file__).parents[2] / run.STORED).glob("*.parquet"):
        column = pq.read_table(path, columns=["provenance"])["provenance"]
        for text in column.unique().to_pylist():
            assert len(json.loads(text)["commit"]) == 40


@pytest.mark.slow
def test_a_quick_part_from_the_command_line(tmp_path):
    main(["E1", "--quick", "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"E1.parquet", "E1.png"}


@pytest.mark.slow
def test_a_training_is_computed_stored_and_verified(tmp_path, monkeypatch):
    unit = training(True, env="GridWorld", algorithm="er", planning_steps=1)
    part = Part("M", "", "", lambda quick: [unit], lambda units: Findings(Chart([Panel()]), ()))
    run.reproduce(part, tmp_path, quick=True, processes=1)
    assert {path.name for path in tmp_path.iterdir()} == {"M.parquet", "M.png"}
    (stored,) = run.stored(part, tmp_path, quick=True).values()
    assert curves(stored)[1].shape == (QUICK["seeds"], 10)

    monkeypatch.setattr(run, "train", lambda *_: [stored])
    assert "bit-identical" in run.verify(part, tmp_path, seeds=3, processes=1)
    changed = stored.columns | {"return": stored.columns["return"] + 1}
    store.write(tmp_path / "M.parquet", [Stored(unit, changed, stored.provenance)])
    with pytest.raises(FreqdynaError):
        run.verify(part, tmp_path, seeds=3, processes=1)
    store.write(tmp_path / "M.parquet", [Stored(unit, stored.columns, FACTS)])
    assert "they agree" in run.verify(part, tmp_path, seeds=3, processes=1)
