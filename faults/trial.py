"""One disturbance and what came of it, and how the command line is run and judged."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SAME = "same result"
REFUSED = "refused in one sentence"
LOST = "work lost"
WRONG = "silently wrong"
TRACEBACK = "traceback"
HANG = "hang"
RAN_CODE = "ran code of a file"
LEFTOVER = "file left behind"
GOOD = (SAME, REFUSED)
BAD = (LOST, WRONG, TRACEBACK, HANG, RAN_CODE, LEFTOVER)
SECONDS = 1200.0
"""A command that takes longer hangs; on a free machine each takes a few seconds."""
INTERRUPTED = 130
_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Trial:
    """A disturbance and its outcome."""

    kind: str
    """What was disturbed, such as "kill"."""
    what: str
    """The disturbance in words, enough to repeat it."""
    outcome: str
    """One of GOOD or BAD."""
    detail: str = ""
    disturbances: int = 1
    """How many times this run was disturbed; a run may be killed more than once."""


PROGRAM = (sys.executable, "-m", "freqdyna")


def start(
    arguments: list[str],
    work: Path,
    program: Sequence[str] = PROGRAM,
    folder: Path | None = None,
) -> "subprocess.Popen[str]":
    """Start the command line, or another program.

    Args:
        arguments: The arguments of the program.
        work: The folder of this suite, in which compiled programs are kept.
        program: The program and its first arguments.
        folder: The current folder of the program; None for that of this process.

    """
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(work / "programs"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "COLUMNS": "400",
    }
    return subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for a command; the exit status, and what it printed."""
    try:
        text, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, text


def fault_in(code: int, text: str) -> str | None:
    """The fault that the exit status and the output of a command show; None if there is none."""
    if _TRACEBACK in text:
        return TRACEBACK
    if code not in (0, 1, 2, INTERRUPTED):
        return LOST
    said = [line for line in text.splitlines() if line.strip()]
    if code and not any(line.startswith("freqdyna:") or "│" in line for line in said):
        return WRONG  # it failed and did not say why
    return None


def excerpt(text: str) -> str:
    """What a command printed from its first traceback on, or else at its end."""
    before, traceback, after = text.partition(_TRACEBACK)
    return before[-200:] + traceback + after[:3000] if traceback else text[-400:]
