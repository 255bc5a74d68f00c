"""`make faults`: disturb runs, sweeps and stored files at random, and count what comes of it.

Each trial kills a process, damages a file, writes a crafted one, or takes the disk away, and then
looks at what a user would see. Good outcomes are the result of an undisturbed run, and a refusal in
one sentence. Everything is in a temporary folder. The seed determines which trials are made, but
not the exact moment at which a process is killed.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from freqdyna.results.provenance import commit

from faults import crafted, disks, kills
from faults.scene import Scene, prepare
from faults.trial import BAD, GOOD, LOST, Trial, excerpt, finish, start

Attempt = Callable[[Scene, random.Random, Path], Trial]
ROUND: dict[Attempt, int] = {
    kills.kill_run: 5,
    kills.kill_sweep: 1,
    crafted.crafted_run: 8,
    crafted.crafted_sweep: 1,
    disks.full_disk: 1,
    disks.read_only: 1,
    disks.deleted_folder: 1,
}
"""How many trials of each kind make a round, together with one batch of damaged files."""
DAMAGED = 100
"""The number of files in a batch of damaged files."""


def damaged_files(seed: int, scene: Scene) -> list[Trial]:
    """Damage many files in one process, because starting one takes longer than reading a file."""
    arguments = [str(scene.work), str(seed), str(DAMAGED)]
    code, text = finish(start(arguments, scene.work, (sys.executable, "-m", "faults.damage")))
    lines = [line for line in text.splitlines() if line.startswith("{")]
    trials = [Trial(**json.loads(line)) for line in lines]
    if code or len(trials) < DAMAGED:
        trials.append(Trial("damage", " ".join(arguments), LOST, excerpt(text)))
    return trials


def trials_of_round(seed: int, number: int) -> Iterator[Callable[[Scene], list[Trial]]]:
    """The trials of one round, as functions that can be called in any order."""
    chance = random.Random(f"{seed}/{number}")
    without = () if disks.can_mount() else (disks.full_disk, disks.read_only)
    yield partial(damaged_files, chance.randrange(2**31))
    for trial in (trial for trial, count in ROUND.items() for _ in range(count)):
        own = random.Random(chance.random())
        if trial not in without:
            yield partial(one_trial, trial, own)


def one_trial(trial: Attempt, chance: random.Random, scene: Scene) -> list[Trial]:
    """Make one trial in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=scene.work) as folder:
        return [trial(scene, chance, Path(folder) / "trial")]


def rounds(scene: Scene, seed: int, until: float, workers: int) -> list[Trial]:
    """Make trials until the time is over, and print the counts after each round."""
    trials: list[Trial] = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for number in itertools.count():
            if time.monotonic() > until:
                return trials
            jobs = [pool.submit(job, scene) for job in trials_of_round(seed, number)]
            for job in concurrent.futures.as_completed(jobs):
                made = job.result()
                trials += made
                for trial in made:
                    if trial.outcome in BAD:
                        print(f"{trial.outcome}: {trial.kind}: {trial.what}: {trial.detail}")
            left = max(0.0, until - time.monotonic()) / 60
            print(f"round {number + 1}: {summary(trials)}; {left:.0f} minutes left", flush=True)
    return trials


def summary(trials: list[Trial]) -> str:
    """The number of trials of each kind, and of bad outcomes."""
    kinds = collections.Counter(trial.kind for trial in trials)
    for trial in trials:
        kinds[trial.kind] += trial.disturbances - 1
    bad = sum(trial.outcome in BAD for trial in trials)
    return ", ".join(f"{n:,} × {kind}" for kind, n in kinds.items()) + f", {bad} with a fault"


def counts(trials: list[Trial]) -> dict[str, dict[str, int]]:
    """The number of disturbances by kind and outcome."""
    table: dict[str, dict[str, int]] = {}
    for trial in trials:
        row = table.setdefault(trial.kind, dict.fromkeys((*GOOD, *BAD), 0))
        row[trial.outcome] += trial.disturbances
    return table


def main() -> None:
    """Run the suite; exits with status 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--out", type=Path, default=None, help="a JSON file for the counts")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    workers = os.cpu_count() or 1
    print(f"seed {seed}; {options.minutes:g} minutes, after about two of preparation", flush=True)
    if not disks.can_mount():
        print("full and read-only disks are left out: this user may not mount a file system")
    with tempfile.TemporaryDirectory(prefix="freqdyna-faults-") as work:
        scene = prepare(Path(work))
        began = time.monotonic()
        trials = rounds(scene, seed, began + 60 * options.minutes, workers)
        minutes = (time.monotonic() - began) / 60
    table, bad = counts(trials), [trial for trial in trials if trial.outcome in BAD]
    for kind, row in table.items():
        print(f"{kind:>14}: " + ", ".join(f"{n:,} {name}" for name, n in row.items() if n))
    print(f"{len(bad)} faults in {sum(t.disturbances for t in trials):,} disturbances; seed {seed}")
    if options.out is not None:
        facts = {
            "command": f"make faults MINUTES={options.minutes:g} SEED={seed}",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(),
            "machine": f"{platform.system()} {platform.machine()}, {workers} cores",
            "minutes": round(minutes, 1),
            "seed": seed,
            "counts": table,
            "faults": [asdict(trial) for trial in bad],
        }
        options.out.write_text(json.dumps(facts, indent=2) + "\n")
        print(f"counts: {options.out}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    try:
        main()
    except subprocess.TimeoutExpired as error:
        sys.exit(f"a batch of damaged files did not end: {error}")
