"""Files that are damaged at random and then read, in a run folder or a sweep.

`python -m faults.damage WORK SEED NUMBER` damages files and prints each trial as a line of JSON.
"""

import json
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from functools import partial
from pathlib import Path

from faults.kills import REFUSED, SAME, Trial, Undisturbed, difference
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.result import load
from freqdyna.sweeps.load import load_sweep
from freqdyna.training.api import resume

RESUMED = 0.1
"""The probability that a damaged run is also resumed, which takes a hundred times as long."""


def damage(path: Path, chance: random.Random) -> str:
    """Damage a file, more often than not by one flipped bit; returns what was done."""
    contents = bytearray(path.read_bytes())
    place = chance.randrange(len(contents))
    kind = chance.choice([*["a flipped bit"] * 6, "a lost end", "zeros", "noise", "a longer end"])
    if kind == "a flipped bit":
        contents[place] ^= 1 << chance.randrange(8)
    elif kind == "a lost end":
        del contents[place:]
    elif kind == "a longer end":
        contents += chance.randbytes(50)
    else:
        length = min(chance.choice([4, 64, 512, 4096]), len(contents) - place)
        new = bytes(length) if kind == "zeros" else chance.randbytes(length)
        contents[place : place + length] = new
    path.write_bytes(contents)
    return f"{kind} in {path.name}"


def damage_run(whole: Undisturbed, chance: random.Random, folder: Path) -> Trial:
    """Damage a file of a run folder, each kind of file as often as any other."""
    shutil.copytree(whole.work / "run", folder)
    names = [path.name for path in sorted(folder.iterdir()) if path.stat().st_size]
    name = chance.choice(names)
    what, outcome = damage(folder / name, chance), SAME
    expected = load(whole.work / "run")
    try:
        record = load(folder)
    except FreqdynaError:
        outcome = REFUSED
    else:
        provenance = None if record.provenance == expected.provenance else "silently wrong"
        if fault := difference(lambda: record, expected) or provenance:
            return Trial("damage", what, fault)
    if chance.random() < RESUMED:
        what += ", resumed"
        try:
            resumed = resume(folder, progress=False)
        except FreqdynaError as error:
            # A run needs its settings and provenance; everything else can be computed again.
            needed = name in ("config.toml", "provenance.json")
            return Trial("damage", what, REFUSED if needed else f"work lost: {error}")
        outcome = difference(lambda: resumed, expected) or outcome
    return Trial("damage", what, outcome)


def damage_sweep(whole: Undisturbed, chance: random.Random, folder: Path) -> Trial:
    """Damage a file of a sweep."""
    shutil.copytree(whole.work / "sweep", folder)
    files = [folder / "sweep.toml", *sorted((folder / "units").glob("*/*"))]
    what = f"{damage(chance.choice(files), chance)} of a sweep"
    try:
        results = load_sweep(str(folder))
    except FreqdynaError:
        return Trial("damage", what, REFUSED)
    for name, expected in load_sweep(str(whole.work / "sweep")).items():
        if fault := difference(partial(results.__getitem__, name), expected):
            return Trial("damage", what, fault)
    return Trial("damage", what, SAME)


def main(work: Path, seed: int, number: int) -> None:
    """Damage files, one after another."""
    whole, chance = Undisturbed(work, 0.0), random.Random(seed)
    warnings.simplefilter("ignore")
    for _ in range(number):
        attempt = chance.choice([damage_run, damage_run, damage_run, damage_sweep])
        with tempfile.TemporaryDirectory(dir=work) as folder:
            try:
                trial = attempt(whole, chance, Path(folder) / "copy")
            except Exception:
                trial = Trial("damage", attempt.__name__, traceback.format_exc()[-600:])
        print(json.dumps(trial), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
