import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from freqdyna.sweeps import unit_work
from freqdyna.sweeps.notes import Note
from freqdyna.sweeps.pace import Estimate, Pace
from freqdyna.sweeps.status import Status, read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.sweeps.view import headline, render
from freqdyna.training.progress import LastEvaluation

UNITS = Sweep.parse(
    """
    settings = {algorithm = "er", steps = 6000}
    vary = {learning_rate = [0.1, 0.2, 0.3, 0.4]}
    seeds = {number = 1}
    """
).units()
NAMES = [unit.name for unit in UNITS]


def note(step, left, **more):
    return Note(step, 6000, left, 0.0, None, "host", **more)


def test_compilation_does_not_count_as_time_of_steps():
    # 10 s until the evaluation at step 0 is done, and 0.01 s for each step from then on.
    pace = Pace(100.0).updated(110.0, 0, evaluates=True)
    assert pace.estimate(110.0, 0, 6000) is None
    pace = pace.updated(112.0, 200, evaluates=False)
    assert pace.estimate(112.0, 200, 6000) == pytest.approx(Estimate(58.0, 10.0))
    pace = pace.updated(120.0, 1000, evaluates=True)  # not the first one
    assert pace.estimate(120.0, 1000, 6000) == pytest.approx(Estimate(50.0, 10.0))


def test_the_first_evaluation_of_a_resumed_unit_compiles_as_well():
    # 5 s for the compilation of steps, 0.01 s for each step, 3 s for that of the evaluation.
    pace = Pace(0.0, first_step=3000).updated(5.01, 3001, evaluates=False)
    assert pace.estimate(5.01, 3001, 6000) is None
    pace = pace.updated(9.0, 3100, evaluates=True)
    assert pace.estimate(9.0, 3100, 6000) is None
    assert pace.estimate(10.0, 3200, 6000) == pytest.approx(Estimate(28.0, 8.0))


def test_waiting_units_take_the_time_of_compilation_too():
    running = {NAMES[0]: note(3000, 30.0, setup_seconds=8.0)}
    # 30 s of the running one, and 68 s for each of the others: two at a time.
    assert Status(UNITS, set(), running, {}).seconds_left(2) == (30 + 3 * 68) / 2
    # A finished unit took 50 s.
    status = Status(UNITS, {NAMES[1]}, running, {}, (50.0,))
    assert status.seconds_left(2) == (30 + 2 * 50) / 2
    assert Status(UNITS[:1], set(), running, {}).seconds_left(2) == 30.0


def test_a_unit_that_compiles_is_running_and_has_no_estimate_before_another_one():
    running = {NAMES[0]: note(0, None, seconds=10.0)}
    assert Status(UNITS[:1], set(), running, {}).seconds_left(2) is None
    assert Status(UNITS[:2], {NAMES[1]}, running, {}, (40.0, 60.0)).seconds_left(2) == 40.0
    status = Status(UNITS, set(), running, {})
    assert headline(status, 2) == "0 of 4 units done, 1 running, 3 waiting, 0 failed"
    console = Console(width=150, record=True)
    console.print(render(status, 2, []))
    assert "estimating" in console.export_text()


def test_a_unit_writes_what_it_measures(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(
        unit_work, "time", SimpleNamespace(monotonic=lambda: clock.now, time=time.time)
    )
    storage = Storage(str(tmp_path))
    progress = unit_work.UnitProgress(storage, NAMES[:1], tmp_path / "scratch", 6000)
    progress.write_note(0, None)
    assert read_status(storage, UNITS).running[NAMES[0]].seconds_left is None
    seen = []
    for now, step in ((60.0, 0), (61.0, 100), (62.0, 200)):  # the second one comes too early
        clock.now = now
        progress.update(step, LastEvaluation(0, -1.0))
        shown = read_status(storage, UNITS).running[NAMES[0]]
        seen.append((shown.step, shown.seconds_left, shown.whole_seconds))
    assert seen == [(0, None, None), (0, None, None), (200, 58.0, 70.0)]
    progress.write_durations()
    assert read_status(storage, UNITS).durations == ()  # until the unit itself is stored
    storage.write(f"units/{NAMES[0]}.parquet", b"")
    assert read_status(storage, UNITS).durations == (12.0,)
