"""`freqdyna sweep` and `freqdyna status` as a user types them."""

import time

import pytest
from hand_made import Instant
from small import SWEEP

from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.sweeps import status
from freqdyna.sweeps.status import Note, read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def test_a_sweep_from_the_command_line(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Instant())
    out = tmp_path / "out"
    main(["sweep", str(file), "--out", str(out), "--dry-run"])
    assert capsys.readouterr().out.count("waiting  ") == 4
    assert not out.exists()
    main(["sweep", str(file), "--out", str(out)])
    capsys.readouterr()
    main(["status", str(out)])
    assert capsys.readouterr().out.count("done  ") == 4
    file.write_text(SWEEP.replace("number = 2", "number = 3"))
    main(["sweep", str(file), "--out", str(out), "--dry-run"])
    output = capsys.readouterr().out
    assert (output.count("done  "), output.count("waiting  ")) == (4, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--checkpoint-seconds", "nan"],
        ["--address", "auto"],
        ["--engine", "ray", "--workers", "2"],
    ],
)
def test_options_that_do_not_go_together_are_refused(file, tmp_path, arguments):
    with pytest.raises(SystemExit, match="2"):
        main(["sweep", str(file), "--out", str(tmp_path / "out"), *arguments])


def test_the_status_counts_units_that_write_notes_as_running(tmp_path, monkeypatch):
    monkeypatch.setattr(status, "SILENT", 1e6)  # seconds, however slow the machine is
    storage, units = Storage(str(tmp_path)), Sweep.parse(SWEEP).units()
    note = Note(100, 400, "mean return 1", time.time(), "host")
    storage.write_json(f"running/{units[0].name}.json", note._asdict())
    storage.write_json(f"running/{units[2].name}.json", note._replace(time=0.0)._asdict())
    storage.write_json(f"failed/{units[1].name}.json", {"error": "oops"})
    now = read_status(storage, units)
    assert (set(now.running), set(now.failed)) == ({units[0].name}, {units[1].name})
    assert set(now.stopped) == {units[2].name}  # its note is old
    assert (now.waiting, now.steps_taken, now.steps) == (2, 200, 1200)
