"""What of a sweep is done, running and failed, and how long the rest will take."""

import time
from dataclasses import dataclass
from typing import Any

from freqdyna.errors import FreqdynaError
from freqdyna.sweeps.place import Place
from freqdyna.sweeps.sweep import FILE, Sweep, Unit

SILENT = 60.0
"""Seconds without a note after which a unit no longer counts as running."""


@dataclass(frozen=True)
class Status:
    """The units of a sweep by their condition."""

    units: list[Unit]
    done: set[str]
    running: dict[str, dict[str, Any]]
    """The last note of each: step, steps, mean_return, seconds_left, host, time."""
    failed: dict[str, str]
    """Why each failed."""

    @property
    def waiting(self) -> int:
        """Units that nobody has begun."""
        return len(self.units) - len(self.done) - len(self.running) - len(self.failed)

    def seconds_left(self, slots: int) -> float | None:
        """How long the rest takes at the rate of the units that run; None if none tells."""
        left = [note["seconds_left"] for note in self.running.values()]
        whole = [
            note["seconds_left"] * note["steps"] / max(note["steps"] - note["step"], 1)
            for note in self.running.values()
            if note["step"] < note["steps"]
        ]
        if not left or not whole:
            return None
        each = sum(whole) / len(whole)
        return (sum(left) + self.waiting * each) / slots


def sweep_at(place: Place) -> Sweep:
    """The sweep whose files are there."""
    text = place.read(FILE)
    if text is None:
        raise FreqdynaError(f"{place.location!r} is not a sweep: it has no {FILE}")
    try:
        return Sweep.parse(text.decode())
    except UnicodeDecodeError as error:
        raise FreqdynaError(f"{FILE} of {place.location!r} is not text: {error}") from None


def look(place: Place, units: list[Unit]) -> Status:
    """What is there now."""
    names = {unit.name for unit in units}
    done = place.units("units", ".parquet") & names
    running = {}
    for name in (place.units("running", ".json") & names) - done:
        note = place.read_json(f"running/{name}.json")
        if note is not None and _is_whole(note) and time.time() - note["time"] < SILENT:
            running[name] = note
    failed = {}
    for name in (place.units("failed", ".json") & names) - done - set(running):
        note = place.read_json(f"failed/{name}.json") or {}
        failed[name] = str(note.get("error", "for an unknown reason"))
    return Status(units, done, running, failed)


def _is_whole(note: dict[str, Any]) -> bool:
    numbers = (note.get(name) for name in ("step", "steps", "seconds_left", "time"))
    return all(isinstance(number, int | float) for number in numbers)
