"""Runs and sweeps that are killed, or cannot write their files, and then resumed to their end."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.record import SECONDS, Record
from freqdyna.results.result import load
from freqdyna.sweeps.load import load_sweep

SETTINGS = [
    *("--env", "MountainCar-v0", "--algorithm", "dyna-value", "--model", "true"),
    *("--seeds", "2", "--steps", "2400"),
    *("--planning-steps", "1", "--warmup-steps", "100", "--env.episode-limit", "100"),
    *("--eval-every", "60", "--eval-episodes", "1", "--snapshot-steps", "900", "1800"),
    *("--learner.hidden", "8", "--replay.capacity", "4000", "--planning.queue-size", "4000"),
]
SAVES = ["--checkpoint-seconds", "0"]
"""Save as often as possible, so that many kills happen during a write."""
SWEEP = """
settings.steps = 400
settings.eval_every = 100
settings.env = {name = "GridWorld", episode_limit = 50}
settings.learner.hidden = [8]
vary = {learner.learning_rate = [0.001, 0.01]}
seeds = {number = 2, block = 1}
"""
KILLS = 8  # a run is killed up to so many times, because its end is compared only once
LONGEST = 1200.0  # a command that takes longer hangs
SAME, REFUSED = "same result", "refused in one sentence"


class Trial(NamedTuple):
    """Something that was disturbed, and what came of it."""

    kind: str
    what: str
    outcome: str
    """SAME, REFUSED, or the fault."""
    times: int = 1
    """How often it was disturbed."""


class Undisturbed(NamedTuple):
    """What everything is compared with: the run and the sweep in `work`."""

    work: Path
    seconds: float
    """How long the command of the run takes."""


def prepare(work: Path) -> Undisturbed:
    """Compute the undisturbed run and sweep."""
    (work / "sweep.toml").write_text(SWEEP)
    seconds = 0.0
    for name in ("compiles", "run"):
        began = time.monotonic()
        _succeed(work, "train", *SETTINGS, *SAVES, "--out", str(work / name))
        seconds = time.monotonic() - began
    _succeed(work, "sweep", str(work / "sweep.toml"), "--out", str(work / "sweep"))
    return Undisturbed(work, seconds)


def kill_run(whole: Undisturbed, chance: random.Random, folder: Path) -> Trial:
    """Kill a run and its resumptions at random moments, and resume it to its end."""
    moments = [chance.random() for _ in range(chance.randint(1, KILLS))]
    for moment in moments:
        _kill(whole, moment, *_again(folder))
    fault = _fault(*_finish(start(whole.work, *_again(folder))), must_succeed=True)
    fault = fault or difference(partial(load, folder), load(whole.work / "run"))
    left = [path.name for path in folder.rglob("*.partial")]
    what = "killed at " + ", ".join(f"{moment:.3f}" for moment in moments)
    return Trial("kill", what, fault or (f"left {left[0]}" if left else SAME), len(moments))


def _again(folder: Path) -> list[str]:
    """The command that begins a run, or resumes it."""
    is_run = (folder / "config.toml").is_file()
    return (
        ["resume", str(folder)] if is_run else ["train", *SETTINGS, "--out", str(folder)]
    ) + SAVES


def kill_sweep(whole: Undisturbed, chance: random.Random, folder: Path) -> Trial:
    """Kill the driver of a sweep at a random moment, and run the same command again."""
    command = ["sweep", str(whole.work / "sweep.toml"), "--out", str(folder), *SAVES]
    moment = chance.random()
    _kill(whole, moment, *command)
    fault = _fault(*_finish(start(whole.work, *command)), must_succeed=True)
    for name, expected in load_sweep(str(whole.work / "sweep")).items():
        fault = fault or difference(lambda: load_sweep(str(folder))[name], expected)  # noqa: B023
    return Trial("kill", f"a sweep, killed at {moment:.3f}", fault or SAME)


def full_disk(whole: Undisturbed, chance: random.Random, folder: Path) -> Trial:
    """Train where no file may grow beyond a size, as on a full disk, and resume without limit."""
    size = round(10 ** chance.uniform(2, 5.5))
    limit = ("prlimit", f"--fsize={size}")
    fault = _fault(*_finish(start(whole.work, *_again(folder), before=limit)))
    fault = fault or _fault(*_finish(start(whole.work, *_again(folder))), must_succeed=True)
    fault = fault or difference(partial(load, folder), load(whole.work / "run"))
    return Trial("full disk", f"files of {size} bytes", fault or SAME)


def difference(read: Callable[[], Record], expected: Record) -> str | None:
    """How a training differs from the expected one, to the bit; None if it does not."""
    try:
        record = read()
    except (FreqdynaError, LookupError) as error:
        return f"work lost: {error}"
    if (record.config, record.layer_sizes) != (expected.config, expected.layer_sizes):
        return "silently wrong: settings"
    ours, theirs = _arrays(record), _arrays(expected)
    for name in {*ours, *theirs}:
        if name not in ours or name not in theirs or _bits(ours[name]) != _bits(theirs[name]):
            return f"silently wrong: {name}"
    return None


def start(work: Path, *arguments: str, before: Sequence[str] = ()) -> "subprocess.Popen[str]":
    """Start `freqdyna`; programs that it compiles are kept in the folder of this suite."""
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(work / "programs"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "COLUMNS": "400",
    }
    return subprocess.Popen(
        [*before, sys.executable, "-m", "freqdyna", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    )


def _finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for a command; its exit status, and what it printed."""
    try:
        text, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        return 1, "freqdyna: hangs"
    return process.returncode, text


def _kill(whole: Undisturbed, moment: float, *arguments: str) -> None:
    process = start(whole.work, *arguments)
    time.sleep(moment * whole.seconds)
    process.kill()
    process.communicate()


def _fault(code: int, text: str, must_succeed: bool = False) -> str | None:
    """The fault that a command shows; None if it succeeded, or failed with a sentence."""
    if "Traceback (most recent call last)" in text:
        return f"traceback: {text[-3000:]}"
    said = any(line.startswith("freqdyna:") for line in text.splitlines())
    if code and (must_succeed or not said):
        return f"work lost: {text[-400:]}"
    return None


def _arrays(record: Record) -> dict[str, np.ndarray[Any, Any]]:
    arrays = {name: values for name, values in record.metrics.items() if name != SECONDS}
    arrays |= {"seeds": record.seeds, "steps": record.steps}
    for step, snapshot in record.snapshots.items():
        arrays |= {f"snapshot {step} {name}": values for name, values in snapshot.items()}
    return arrays | {"parameters": record.parameters}


def _bits(array: np.ndarray[Any, Any]) -> tuple[object, ...]:
    return array.dtype, array.shape, array.tobytes()


def _succeed(work: Path, *arguments: str) -> None:
    code, text = _finish(start(work, *arguments))
    if code:
        raise SystemExit(f"the undisturbed command failed: freqdyna {' '.join(arguments)}\n{text}")
