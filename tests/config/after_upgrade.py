"""What a later version of freqdyna finds in files of version 0.1; run by `test_upgrade`.

Argument: a folder with a copy of tests/fixtures/version-0.1. Writes found.json there.
"""

import json
import sys
from pathlib import Path

import freqdyna
from freqdyna.cli.main import main
from freqdyna.config import VERSION
from freqdyna.experiments import store
from freqdyna.experiments.trainings import training
from freqdyna.sweeps.status import read_status, stored_sweep
from freqdyna.sweeps.storage import Storage


def look(folder: Path) -> None:
    """Look at all of it, and write `found.json`."""
    found = {"version": VERSION, "file": freqdyna.__file__}

    stored = freqdyna.load(folder / "interrupted")
    resumed = freqdyna.resume(folder / "interrupted", progress=False)
    again = freqdyna.resume(folder / "interrupted", progress=False)
    found["resumed"] = {
        "settings": [r.config.new_setting for r in (stored, resumed, again)],
        "steps": resumed.steps.tolist(),
        "stored": {k: v.tolist() for k, v in stored.metrics.items()},
        "first": {k: v[:, : len(stored.steps)].tolist() for k, v in resumed.metrics.items()},
        "same_again": bool((again.parameters == resumed.parameters).all()),
    }

    storage = Storage(str(folder / "sweep"))
    units = {path: path.stat().st_mtime_ns for path in (folder / "sweep" / "units").iterdir()}
    found["done_before"] = len(read_status(storage, stored_sweep(storage).units()).done)
    file = folder / "again.toml"
    file.write_text((folder / "sweep" / "sweep.toml").read_text())
    main(["sweep", str(file), "--out", str(folder / "sweep"), "--workers", "1"])
    now = {path: path.stat().st_mtime_ns for path in (folder / "sweep" / "units").iterdir()}
    found["recomputed"] = sorted(path.name for path in now if units.get(path) != now[path])
    sweep = stored_sweep(storage)
    found["sweep"] = {
        "version": sweep.version,
        "done": len(read_status(storage, sweep.units()).done),
        "kept": sweep.kept_defaults(),
        "loaded": len(freqdyna.load_sweep(str(folder / "sweep"))),
    }

    unit = training(True, env="MazeGridWorld", algorithm="dyna-frequency")
    experiment = folder / "reproduce" / "F5"
    kept = store.read(experiment, unit)
    found["training"] = {
        "condition": store.condition(experiment, unit),
        "rows": 0 if kept is None else len(kept.columns["seed"]),
        "new_setting": unit.meaning(unit.settings).new_setting,
        "discount": unit.meaning(unit.settings).discount,
    }
    new = freqdyna.Config()
    found["today"] = [new.new_setting, new.discount]
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":  # workers of the sweep import this file
    look(Path(sys.argv[1]))
