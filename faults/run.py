"""`make faults`: kill runs and sweeps, damage files and fill disks at random.

It counts what comes of it. A trial is good if its result equals that of an undisturbed run to the
bit, or if it was refused in one sentence. Everything is in a temporary folder. The seed determines
which trials are made, but not the exact moment at which a process is killed.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from faults.kills import REFUSED, SAME, Trial, Undisturbed, full_disk, kill_run, kill_sweep, prepare
from freqdyna.results.folder import commit

TRIALS = (kill_run, kill_run, full_disk, kill_run, kill_run, kill_sweep)
"""What is tried in turn, after a batch of damaged files."""
BATCH = 50
"""The number of files in a batch; they are damaged in one process, which takes long to start."""
ENOUGH = {"kill": 200, "damage": 500}
"""The suite ends when it has made so many disturbances of each kind, or when its time is over."""


def damaged_files(whole: Undisturbed, seed: int) -> list[Trial]:
    """Damage a batch of files."""
    command = [sys.executable, "-m", "faults.damage", str(whole.work), str(seed), str(BATCH)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    trials = [Trial(*json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "["]
    if done.returncode or len(trials) < BATCH:
        trials.append(Trial("damage", " ".join(command), f"ended early: {done.stderr[-600:]}"))
    return trials


def one(whole: Undisturbed, attempt: Callable[..., Trial], chance: random.Random) -> list[Trial]:
    """Make one trial in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=whole.work) as folder:
        return [attempt(whole, chance, Path(folder) / "trial")]


def jobs(whole: Undisturbed, chance: random.Random) -> Iterator[Callable[[], list[Trial]]]:
    """Trials without end, as functions that can be called in any order."""
    while True:
        yield partial(damaged_files, whole, chance.randrange(2**31))
        for attempt in TRIALS:
            yield partial(one, whole, attempt, random.Random(chance.random()))


def make_trials(whole: Undisturbed, seed: int, until: float) -> list[Trial]:
    """Make trials until there are enough, or the time is over."""
    trials: list[Trial] = []
    made: Counter[str] = Counter()
    more, running = jobs(whole, random.Random(seed)), set[Future[list[Trial]]]()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while True:
            goes_on = time.monotonic() < until and any(made[k] < n for k, n in ENOUGH.items())
            while goes_on and len(running) < (os.cpu_count() or 1):
                running.add(pool.submit(next(more)))
            if not running:
                return trials
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for trial in (trial for job in done for trial in job.result()):
                trials.append(trial)
                made[trial.kind] += trial.times
                if trial.outcome not in (SAME, REFUSED):
                    print(f"{trial.kind}: {trial.what}: {trial.outcome}")
            print(", ".join(f"{number:,} × {kind}" for kind, number in made.items()), flush=True)


def main() -> None:
    """Run the suite; exits with status 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="the longest time")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--out", type=Path, help="a JSON file for the counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="freqdyna-faults-") as work:
        whole, began = prepare(Path(work)), time.monotonic()
        trials = make_trials(whole, options.seed, began + 60 * options.minutes)
    faults = [trial for trial in trials if trial.outcome not in (SAME, REFUSED)]
    counts: dict[str, Counter[str]] = {}
    for trial in trials:
        outcome = "fault" if trial in faults else trial.outcome
        counts.setdefault(trial.kind, Counter())[outcome] += trial.times
    facts = {
        "command": f"make faults MINUTES={options.minutes:g} SEED={options.seed}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "minutes": round((time.monotonic() - began) / 60, 1),
        "counts": counts,
        "faults": [trial._asdict() for trial in faults],
    }
    print(text := json.dumps(facts, indent=2))
    if options.out is not None:
        options.out.write_text(text + "\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
