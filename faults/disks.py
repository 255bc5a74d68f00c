"""Folders that can no longer be written: a full disk, a read-only folder, a deleted one.

A full or read-only disk needs a file system of its own. It is mounted in a user namespace, which
needs no rights; where the system does not allow that, these trials are left out.
"""

import functools
import random
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from faults.scene import SAVES, SETTINGS, Scene, difference, wait_for
from faults.trial import (
    HANG,
    LOST,
    PROGRAM,
    REFUSED,
    SAME,
    WRONG,
    Trial,
    excerpt,
    fault_in,
    finish,
    start,
)
from freqdyna.results.result import load

_ISOLATED = ("unshare", "--user", "--map-root-user", "--mount")


@functools.cache
def can_mount() -> bool:
    """Whether this user may mount a file system in a namespace."""
    probe = [*_ISOLATED, "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def full_disk(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Train on a disk that is too small, then copy the folder to a larger one and resume."""
    size = chance.randrange(150, 1500)
    words = f"disk of {size} kB"
    mount, kept, command = _on_disk(folder)
    script = (
        f"mount -t tmpfs -o size={size}k none {mount} && "
        f"{command}; code=$?; "
        f"cp -r {mount}/run {kept}; exit $code"
    )
    return _end(scene, words, script, kept)


def read_only(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Make the disk read-only while a run writes to it."""
    moment = chance.random() * scene.seconds
    words = f"read-only after {moment:.2f} s"
    mount, kept, command = _on_disk(folder)
    script = (
        f"mount -t tmpfs none {mount} && {{ {command} & }}; child=$!; "
        f"while [ ! -e {mount}/run/config.toml ]; do sleep 0.05; done; sleep {moment:.2f}; "
        f"until mount -o remount,ro {mount}; do sleep 0.01; done; "
        f"wait $child; code=$?; cp -r {mount}/run {kept}; exit $code"
    )
    return _end(scene, words, script, kept)


def deleted_folder(scene: Scene, chance: random.Random, folder: Path) -> Trial:
    """Delete the folder of a run while it writes to it."""
    moment = chance.random() * scene.seconds
    words, run = f"deleted after {moment:.2f} s", folder / "run"
    folder.mkdir(parents=True)
    process = start(["train", *SETTINGS, *SAVES, "--out", str(run)], scene.work)
    try:
        wait_for(run / "config.toml")
        time.sleep(moment)
        shutil.rmtree(run, ignore_errors=True)
        code, text = finish(process)
    except subprocess.TimeoutExpired:
        return Trial("disk", words, HANG)
    if fault := fault_in(code, text):
        return Trial("disk", words, fault, excerpt(text))
    return Trial("disk", words, REFUSED if code else SAME)


def _on_disk(folder: Path) -> tuple[Path, Path, str]:
    """Where to mount a disk, where to keep its run, and the command that trains on it."""
    mount = folder / "disk"
    mount.mkdir(parents=True)
    command = [*PROGRAM, "train", *SETTINGS, *SAVES, "--out", f"{mount}/run"]
    return mount, folder / "kept", shlex.join(command)


def _end(scene: Scene, words: str, script: str, kept: Path) -> Trial:
    """Run a script in a namespace, and resume what it left."""
    try:
        code, text = finish(start([script], scene.work, (*_ISOLATED, "sh", "-c")))
        if fault := fault_in(code, text):
            return Trial("disk", words, fault, excerpt(text))
        if not (kept / "config.toml").is_file():
            return Trial("disk", words, REFUSED if code else LOST)
        if code:
            code, text = finish(start(["resume", str(kept), *SAVES], scene.work))
    except subprocess.TimeoutExpired:
        return Trial("disk", words, HANG)
    if fault := fault_in(code, text) or (LOST if code else None):
        return Trial("disk", words, fault, excerpt(text))
    if differs := difference(kept, load(scene.run)):
        return Trial("disk", words, WRONG, differs)
    return Trial("disk", words, SAME)
