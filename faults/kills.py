"""Runs and sweeps that are killed or interrupted, and then resumed."""

import random
import signal
import subprocess
import time
from pathlib import Path

from faults.scene import SAVES, SETTINGS, Scene, difference, record_difference, wait_for
from faults.trial import HANG, LEFTOVER, LOST, SAME, WRONG, Trial, excerpt, fault_in, finish, start
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.result import load
from freqdyna.sweeps.load import load_sweep

SIGNALS = (signal.SIGKILL,) * 7 + (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KILLED_AGAIN = 0.75
"""The probability that a resumed run is killed as well."""


def kill_run(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Kill a run at a random moment, perhaps its resumption too, and resume it to its end."""
    chosen, moments = chance.choice(SIGNALS), [chance.random()]
    while chance.random() < KILLED_AGAIN:
        moments.append(chance.random())
    words = f"{chosen.name} at " + ", ".join(f"{moment:.3f}" for moment in moments)
    process = start(["train", *SETTINGS, *SAVES, "--out", str(folder)], scene.work)
    try:
        wait_for(folder / "config.toml")
        for moment in moments:
            time.sleep(moment * scene.seconds)
            process.send_signal(chosen)
            code, text = finish(process)
            code = 0 if code == -chosen else code  # it had not begun to handle signals
            if fault := fault_in(code, text):
                return Trial("kill", words, fault, excerpt(text))
            process = start(["resume", str(folder), *SAVES], scene.work)
        code, text = finish(process)
    except subprocess.TimeoutExpired:
        return Trial("kill", words, HANG)
    if fault := fault_in(code, text) or (LOST if code else None):
        return Trial("kill", words, fault, excerpt(text))
    if differs := difference(folder, load(scene.run)):
        return Trial("kill", words, WRONG, differs)
    left = [path.name for path in folder.rglob("*.partial")]
    if left:
        return Trial("kill", words, LEFTOVER, left[0])
    return Trial("kill", words, SAME, disturbances=len(moments))


def kill_sweep(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Kill the driver of a sweep at a random moment, and run the same command again."""
    chosen, moment = chance.choice(SIGNALS), chance.random()
    words = f"{chosen.name} of a sweep at {moment:.3f}"
    command = ["sweep", str(scene.sweep_file), "--out", str(folder), *SAVES]
    process = start(command, scene.work)
    try:
        wait_for(folder / "sweep.toml")
        time.sleep(moment * 8)
        process.send_signal(chosen)
        code, text = finish(process)
        code = 0 if code == -chosen else code
        if fault := fault_in(code, text):
            return Trial("kill", words, fault, excerpt(text))
        code, text = finish(start(command, scene.work))
    except subprocess.TimeoutExpired:
        return Trial("kill", words, HANG)
    if fault := fault_in(code, text) or (LOST if code else None):
        return Trial("kill", words, fault, excerpt(text))
    try:
        found, expected = load_sweep(str(folder)), load_sweep(str(scene.sweep))
    except FreqdynaError as error:
        return Trial("kill", words, LOST, str(error))
    differ = [n for n in expected if n not in found or record_difference(found[n], expected[n])]
    if differ:
        return Trial("kill", words, WRONG, differ[0])
    return Trial("kill", words, SAME)
