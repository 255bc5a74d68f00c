"""The undisturbed runs that everything is compared with."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from faults.trial import finish, start
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.record import Record
from freqdyna.results.result import load

SETTINGS = [
    *("--env", "MountainCar-v0", "--algorithm", "dyna-value", "--seeds", "2", "--steps", "2400"),
    *("--planning-steps", "1", "--warmup-steps", "100", "--episode-limit", "100", "--hidden", "8"),
    *("--eval-every", "60", "--eval-episodes", "1", "--snapshot-steps", "900", "1800"),
    *("--buffer-size", "4000", "--queue-size", "4000"),
]
SAVES = ["--checkpoint-seconds", "0"]
"""Save as often as possible, so that many kills happen during a write."""
SWEEP = """
[settings]
env = "MountainCar-v0"
steps = 400
eval_every = 100
eval_episodes = 1
planning_steps = 1
warmup_steps = 50
episode_limit = 50
hidden = [8]
buffer_size = 400

[vary]
algorithm = ["er"]
learning_rate = [0.001, 0.01]

[seeds]
number = 2
block = 1
"""


@dataclass(frozen=True)
class Scene:
    """The folders of the undisturbed runs."""

    work: Path
    """The folder of this suite; everything else is in it."""
    seconds: float
    """How long the undisturbed run took, from its first file to its end."""

    @property
    def run(self) -> Path:
        """A finished run with snapshots and checkpoints."""
        return self.work / "run"

    @property
    def other(self) -> Path:
        """A finished run with another learning rate and other seeds."""
        return self.work / "other"

    @property
    def sweep(self) -> Path:
        """A finished sweep."""
        return self.work / "sweep"

    @property
    def sweep_file(self) -> Path:
        """The file of the sweep."""
        return self.work / "sweep.toml"


def prepare(work: Path) -> Scene:
    """Compute all undisturbed runs; about a minute."""
    work.mkdir(parents=True, exist_ok=True)
    scene = Scene(work, 0.0)
    _succeed(["train", *SETTINGS, *SAVES, "--out", str(work / "compiling")], work)
    process = start(["train", *SETTINGS, *SAVES, "--out", str(scene.run)], work)
    wait_for(scene.run / "config.toml")
    began = time.monotonic()
    finish(process)
    seconds = time.monotonic() - began
    changed = ["--learning-rate", "0.01", "--first-seed", "2"]
    _succeed(["train", *SETTINGS, *SAVES, *changed, "--out", str(scene.other)], work)
    scene.sweep_file.write_text(SWEEP)
    _succeed(["sweep", str(scene.sweep_file), "--out", str(scene.sweep)], work)
    return Scene(work, seconds)


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    while not path.exists():
        time.sleep(0.01)


def difference(folder: Path, expected: Record) -> str | None:
    """How the results in a run folder differ from the expected ones; None if they do not."""
    try:
        return record_difference(load(folder), expected)
    except FreqdynaError as error:
        return f"cannot be read: {error}"


def record_difference(found: Record, expected: Record) -> str | None:
    """The first difference between trainings; None if there is none.

    Parameters or snapshots that are missing are no difference: whoever asks for them is told.
    """
    if found.config != expected.config:
        return f"settings {found.config}"
    pairs: dict[str, tuple[Any, Any]] = {
        "seeds": (found.seeds, expected.seeds),
        "steps": (found.steps, expected.steps),
    }
    if found.parameters.shape[1]:
        pairs["parameters"] = (found.parameters, expected.parameters)
        pairs["layer sizes"] = (found.layer_sizes, expected.layer_sizes)
    for name in {*found.metrics, *expected.metrics}:
        pairs[name] = (found.metrics.get(name), expected.metrics.get(name))
    for step, arrays in found.snapshots.items():
        theirs = expected.snapshots.get(step, {})
        for name in {*arrays, *theirs}:
            pairs[f"snapshot {step} {name}"] = (arrays.get(name), theirs.get(name))
    return next((name for name, pair in pairs.items() if not _equal(*pair)), None)


def _equal(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return False
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=True)


def _succeed(arguments: list[str], work: Path) -> None:
    code, text = finish(start(arguments, work))
    if code:
        raise SystemExit(f"the undisturbed command failed: freqdyna {' '.join(arguments)}\n{text}")
