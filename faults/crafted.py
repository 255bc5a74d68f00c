"""Files of valid formats with wrong contents, as an attacker or a careless script writes them."""

import io
import json
import os
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from freqdyna.core.arrays import load_arrays, save_arrays

from faults.scene import Scene, difference
from faults.trial import HANG, RAN_CODE, REFUSED, SAME, WRONG, Trial, fault_in, finish, start
from freqdyna.results.result import load

VALUES = (
    *("nan", "inf", "-1", "0", "1e400", "true", '""', "[]", "[[]]", "{}", '"\\u0000"', "1.5"),
    *("2026-11-16", "9" * 5000, "9223372036854775807", "9" * 30, '"../../../etc/passwd"'),
    "[" * 3000 + "]" * 3000,
)
"""TOML values that hardly any setting allows."""
CODE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"


def _newest(folder: Path, pattern: str) -> Path:
    return sorted(folder.glob(pattern))[-1]


def config_value(folder: Path, chance: random.Random) -> str:
    """A setting has a value that it must not have."""
    path, value = folder / "config.toml", chance.choice(VALUES)
    lines = path.read_text().splitlines()
    rows = [row for row, line in enumerate(lines) if "=" in line and not line.startswith("#")]
    row = chance.choice(rows)
    name = lines[row].split("=")[0].strip()
    lines[row] = f"{name} = {value}"
    path.write_text("\n".join(lines) + "\n")
    return f"config.toml: {name} = {value[:20]}"


def config_code(folder: Path, chance: random.Random) -> str:
    """The configuration names a module that lies beside it."""
    (folder / "evil.py").write_text(CODE)
    path = folder / "config.toml"
    text = path.read_text()
    old = 'algorithm = "dyna-value"'
    if chance.random() < 0.5:
        text = text.replace('env = "MountainCar-v0"', 'env = "evil:Evil-v0"')
    else:
        text = text.replace(old, 'algorithm = "dyna"\nsearch_control = "evil:Evil"')
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return "config.toml names code"


def provenance(folder: Path, chance: random.Random) -> str:
    """The provenance has values of wrong types."""
    path = folder / "provenance.json"
    facts = json.loads(path.read_text())
    facts.pop("checksum", None)
    name = chance.choice([*facts, "scaling", "ended", "environment_given", "continues"])
    value: Any = chance.choice(
        [None, -1, 10**30, "x", [], {}, [[]], {"a": {}}, True, 1e300, "é\u0000"]
    )
    facts[name] = value
    text = json.dumps(facts)
    if chance.random() < 0.2:
        text = '{"continues":' * 20_000 + "{}" + "}" * 20_000
    path.write_text(text)
    return f"provenance.json: {name} = {value!r}"


def checkpoint_note(folder: Path, chance: random.Random) -> str:
    """The note of a checkpoint lies."""
    path = _newest(folder, "checkpoint-*.npz")
    arrays, note = load_arrays(path)
    name = chance.choice([*note, "step", "step", "step"])
    wrong = ["x", -5, 0, 60, 10**12, 10**30, None, [], {}, 1.5, True]
    if name == "facts":  # of environments that fail; a wrong number there is not checked
        wrong = ["x", -5, [], 1.5, True]
    value: Any = chance.choice(wrong)
    if chance.random() < 0.2:
        value = []
        for _ in range(500):
            value = [value]
    note[name] = value
    save_arrays(path, arrays, note)
    return f"checkpoint: note {name} = {str(value)[:40]}"


def archive_arrays(folder: Path, chance: random.Random) -> str:
    """An array of an archive has another shape or type, or is missing, or is a pickle."""
    pattern = chance.choice(["checkpoint-*.npz", "snapshot-*.npz", "parameters.npz"])
    path = _newest(folder, pattern)
    arrays, note = load_arrays(path)
    name = chance.choice(sorted(arrays))
    kind = chance.choice(["missing", "shape", "type", "object", "text", "longer", "extra", "empty"])
    old = arrays.pop(name)
    new = {
        "shape": old.reshape(-1, 1, 1),
        "type": old.astype(np.complex128),
        "object": np.array([{"a": 1}], dtype=object),
        "text": np.full(old.shape, "x"),
        "longer": np.concatenate([old.reshape(-1), old.reshape(-1)]),
        "empty": old.reshape(-1)[:0],
    }
    if kind in new:
        arrays[name] = new[kind]
    if kind == "extra":
        arrays |= {name: old, "snapshot/x/y": old}
    if kind == "object":
        np.savez(path, **arrays)  # type: ignore[arg-type]
    else:
        save_arrays(path, arrays, note)
    return f"{path.name}: {name} {kind}"


def archive_bomb(folder: Path, chance: random.Random) -> str:
    """An archive claims to contain more than fits into memory."""
    path = _newest(folder, chance.choice(["checkpoint-*.npz", "snapshot-*.npz", "parameters.npz"]))
    names = list(load_arrays(path)[0])
    header = io.BytesIO()
    shape = (chance.choice([10**6, 10**9, 10**15]),)
    fields = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, fields)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(f"{name}.npy", header.getvalue() + bytes(10**7))
    return f"{path.name}: arrays of shape {shape}"


def metrics(folder: Path, chance: random.Random) -> str:
    """The metrics are a valid table with other contents."""
    path = folder / "metrics.parquet"
    table = pyarrow.parquet.read_table(path)
    rows = table.num_rows
    kind = chance.choice(
        ["order", "twice", "fewer", "other seeds", "other steps", "text", "column"]
    )
    if kind == "order":
        table = table.take(pyarrow.array(chance.sample(range(rows), rows)))
    elif kind == "twice":
        table = pyarrow.concat_tables([table, table])
    elif kind == "fewer":
        table = table.slice(0, chance.randrange(rows))
    elif kind == "column":
        table = table.drop_columns([chance.choice(table.column_names)])
    else:
        name = {"other seeds": "seed", "other steps": "step"}.get(kind) or "return"
        new = np.full(rows, "x") if kind == "text" else np.arange(rows) + 7
        table = table.set_column(table.column_names.index(name), name, pyarrow.array(new))
    if chance.random() < 0.5:
        table = table.replace_schema_metadata({})
    pyarrow.parquet.write_table(table, path)
    return f"metrics.parquet: {kind}"


def special_file(folder: Path, chance: random.Random) -> str:
    """Something other than a file has the name of one."""
    path = chance.choice([path for path in sorted(folder.iterdir()) if path.is_file()])
    kind = chance.choice(["FIFO", "folder", "link to itself", "device", "empty"])
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
    return f"{path.name}: {kind}"


MAKERS: tuple[Callable[[Path, random.Random], str], ...] = (
    *(config_value, config_code, provenance, checkpoint_note, archive_arrays, archive_bomb),
    *(metrics, special_file),
)


def crafted_run(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Use a run folder that has a crafted file, with a command chosen at random."""
    copy = folder / "run"
    shutil.copytree(scene.run, copy)
    words = chance.choice(MAKERS)(copy, chance)
    command = chance.choice([["resume"], ["plot"], ["watch"], ["report"], ["train", "--config"]])
    arguments = [*command, "." if command[0] != "train" else "config.toml"]
    if command[0] == "watch":
        arguments += ["--episodes", "1"]
    if command[0] == "train":
        arguments += ["--steps", "60", "--snapshot-steps", "30", "--out", "again"]
    words += f", {command[0]}"
    trial = _judged(scene, words, arguments, copy)
    if trial.outcome == SAME and command[0] != "train":
        differs = difference(copy, load(scene.run))
        if differs and not differs.startswith("cannot be read"):
            return Trial("crafted file", words, WRONG, differs)
    return trial


def crafted_sweep(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Use a sweep whose file is crafted, with a command chosen at random."""
    copy = folder / "sweep"
    shutil.copytree(scene.sweep, copy)
    path, value = copy / "sweep.toml", chance.choice([*VALUES, '["evil:Evil"]'])
    lines = path.read_text().splitlines()
    row = chance.choice([row for row, line in enumerate(lines) if "=" in line])
    name = lines[row].split("=")[0].strip()
    lines[row] = f"{name} = {value}"
    if "evil" in value:
        (copy / "evil.py").write_text(CODE)
        lines[row] += "\n" if name == "search_control" else f"\nsearch_control = {value}"
    path.write_text("\n".join(lines) + "\n")
    command = chance.choice(
        [["status", "."], ["report", "."], ["sweep", "sweep.toml", "--out", "again", "--dry-run"]]
    )
    words = f"sweep.toml: {name} = {value[:20]}, {command[0]}"
    return _judged(scene, words, command, copy)


def _judged(scene: Scene, words: str, command: list[str], folder: Path) -> Trial:
    """Run a command in a folder with a crafted file; the outcome by its status and output."""
    try:
        code, text = finish(start(command, scene.work, folder=folder))
    except subprocess.TimeoutExpired:
        return Trial("crafted file", words, HANG)
    if (folder / "ran").exists():
        return Trial("crafted file", words, RAN_CODE)
    if fault := fault_in(code, text):
        return Trial("crafted file", words, fault, text[-600:])
    return Trial("crafted file", words, REFUSED if code else SAME)
