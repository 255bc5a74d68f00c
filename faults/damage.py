"""Stored files that are damaged at random, and then read: in a run folder or a sweep.

`python -m faults.damage WORK SEED COUNT` damages COUNT files and prints each trial as JSON.
"""

import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path

from faults.scene import Scene, record_difference
from faults.trial import LOST, REFUSED, SAME, TRACEBACK, WRONG, Trial
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.result import load
from freqdyna.sweeps.load import load_sweep
from freqdyna.training.api import resume

RESUMED = 0.3
"""The probability that a damaged run is also resumed, which takes a hundred times as long."""


def flip_bit(contents: bytes, chance: random.Random) -> bytes:
    """Flip one bit."""
    place = chance.randrange(8 * len(contents))
    changed = bytearray(contents)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def truncate(contents: bytes, chance: random.Random) -> bytes:
    """Omit the end."""
    return contents[: chance.randrange(len(contents))]


def overwrite(contents: bytes, chance: random.Random) -> bytes:
    """Replace a range with zeros or random bytes, as a disk may."""
    first = chance.randrange(len(contents))
    length = min(chance.choice([4, 64, 512, 4096]), len(contents) - first)
    new = bytes(length) if chance.random() < 0.5 else chance.randbytes(length)
    return contents[:first] + new + contents[first + length :]


def append(contents: bytes, chance: random.Random) -> bytes:
    """Add random bytes."""
    return contents + chance.randbytes(chance.randrange(1, 100))


def swap(contents: bytes, chance: random.Random) -> bytes:
    """Exchange two blocks of equal length."""
    length = chance.choice([8, 64, 512])
    if len(contents) < 2 * length:
        return contents[::-1]
    first = chance.randrange(len(contents) - 2 * length + 1)
    second = chance.randrange(first + length, len(contents) - length + 1)
    changed = bytearray(contents)
    changed[first : first + length] = contents[second : second + length]
    changed[second : second + length] = contents[first : first + length]
    return bytes(changed)


KINDS = (flip_bit,) * 6 + (truncate, overwrite, append, swap)


def damage(path: Path, chance: random.Random) -> str:
    """Damage a file; what was done, in words."""
    kind, contents = chance.choice(KINDS), path.read_bytes()
    path.write_bytes(kind(contents, chance))
    return f"{kind.__name__} in {path.name}"


def damage_run(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Damage a file of a run folder, or replace it with that of another run."""
    copy = folder / "run"
    shutil.copytree(scene.run, copy)
    names = [path.name for path in sorted(copy.iterdir()) if path.stat().st_size]
    name = chance.choice(names)
    if chance.random() < 0.1 and (scene.other / name).is_file():
        shutil.copy(scene.other / name, copy / name)
        words = f"{name} of another run"
    else:
        words = damage(copy / name, chance)
    expected, refused = load(scene.run), False
    try:
        found = load(copy)
    except FreqdynaError:
        refused = True
    else:
        differs = record_difference(found, expected)
        if found.provenance not in (expected.provenance, {}):
            differs = "provenance"
        if differs:
            return Trial("damage", words, WRONG, differs)
    if chance.random() < RESUMED:
        words += ", resumed"
        try:
            resumed = resume(copy, progress=False)
        except FreqdynaError as error:
            # A run needs its settings and provenance; everything else can be recomputed.
            needed = name in ("config.toml", "provenance.json")
            return Trial("damage", words, REFUSED if needed else LOST, str(error))
        if differs := record_difference(resumed, expected):
            return Trial("damage", words, WRONG, f"after resuming: {differs}")
    return Trial("damage", words, REFUSED if refused else SAME)


def damage_sweep(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Damage a unit of a sweep."""
    copy = folder / "sweep"
    shutil.copytree(scene.sweep, copy)
    path = chance.choice([copy / "sweep.toml", *sorted((copy / "units").iterdir())])
    words = f"{damage(path, chance)} of a sweep"
    try:
        found = load_sweep(str(copy))
    except FreqdynaError:
        return Trial("damage", words, REFUSED)
    for name, expected in load_sweep(str(scene.sweep)).items():
        if name not in found:
            return Trial("damage", words, WRONG, f"{name} is missing")
        if differs := record_difference(found[name], expected):
            return Trial("damage", words, WRONG, f"{name}: {differs}")
    return Trial("damage", words, SAME)


TRIALS = (damage_run,) * 7 + (damage_sweep,) * 2


def main(work: Path, seed: int, count: int) -> None:
    """Damage files, one after another, and print each trial as a line of JSON."""
    scene, chance = Scene(work, 0.0), random.Random(seed)
    warnings.simplefilter("ignore")
    for _ in range(count):
        with tempfile.TemporaryDirectory(dir=work) as folder:
            attempt = chance.choice(TRIALS)
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    trial = attempt(scene, chance, Path(folder))
            except Exception:
                trial = Trial("damage", attempt.__name__, TRACEBACK, traceback.format_exc()[-600:])
        print(json.dumps(asdict(trial)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
