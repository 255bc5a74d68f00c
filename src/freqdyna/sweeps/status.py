"""The status of a sweep: which units are done, running and failed, and the remaining time."""

import time
from dataclasses import dataclass

from freqdyna.core.checksums import check_toml
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.sweeps.notes import LONGEST, Note, is_number, printable
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit

SILENT = 60.0
"""Seconds without a progress note after which a unit no longer counts as running."""
SAMPLE = 10
"""The maximum number of finished units whose durations are read."""


@dataclass(frozen=True)
class Status:
    """The units of a sweep by their state."""

    units: list[SweepUnit]
    done: set[str]
    running: dict[str, Note]
    """The last progress note of each running unit."""
    failed: dict[str, str]
    """The error of each failed unit."""
    durations: tuple[float, ...] = ()
    """Seconds that some of the finished units took from start to end, including compilation."""

    @property
    def waiting(self) -> int:
        """The number of units that have not been started."""
        return len(self.units) - len(self.done) - len(self.running) - len(self.failed)

    @property
    def programs(self) -> float:
        """The number of running programs, each of which may contain several units."""
        return sum(1 / note.together for note in self.running.values())

    def seconds_left(self, slots: int) -> float | None:
        """The remaining time, including compilation; None if it cannot be estimated yet.

        A waiting unit takes as long as the finished ones did, or as the running ones will.

        Args:
            slots: The number of programs that run at a time.

        """
        running = self.running.values()
        whole = [note.whole_seconds / note.together for note in running if note.whole_seconds]
        known = self.durations or whole
        each = sum(known) / len(known) if known else None
        total = 0.0
        for note in running:
            if note.seconds_left is not None:
                total += note.seconds_left / note.together
            elif each is not None:
                total += max(each - note.seconds / note.together, 0.0)
            else:
                return None
        if self.waiting and each is not None:
            total += self.waiting * each
        elif self.waiting or not running:
            return None
        at_a_time = max(1, min(slots, round(self.programs) + self.waiting))
        return min(total / at_a_time, LONGEST)


def stored_sweep(storage: Storage) -> Sweep:
    """The sweep that is stored at a location."""
    try:
        text = storage.read(FILE)
    except OSError as error:
        raise FreqdynaError(f"{FILE} of {storage.location!r} cannot be read: {error}") from None
    if text is None:
        raise FreqdynaError(f"{storage.location!r} is not a sweep: it has no {FILE}")
    try:
        check_toml(text.decode())
        return Sweep.parse(text.decode())
    except DamagedFileError as error:
        raise FreqdynaError(
            f"{FILE} of {storage.location!r} was changed since the sweep was run ({error}); undo "
            "the change, or remove it and run the sweep file again"
        ) from None
    except UnicodeDecodeError as error:
        raise FreqdynaError(f"{FILE} of {storage.location!r} is not text: {error}") from None


def read_status(storage: Storage, units: list[SweepUnit]) -> Status:
    """The current status of units."""
    names = {unit.name for unit in units}
    done = storage.units("units", ".parquet") & names
    running = {}
    for name in (storage.units("running", ".json") & names) - done:
        note = Note.of(storage.read_json(f"running/{name}.json"))
        if note is not None and abs(time.time() - note.time) < SILENT:
            running[name] = note
    failed = {}
    for name in (storage.units("failed", ".json") & names) - done - set(running):
        failure = storage.read_json(f"failed/{name}.json") or {}
        failed[name] = printable(failure.get("error")) or "for an unknown reason"
    return Status(units, done, running, failed, _durations(storage, done))


def _durations(storage: Storage, done: set[str]) -> tuple[float, ...]:
    """Seconds that some of the finished units took; those that were resumed have no record."""
    recorded = sorted(storage.units("durations", ".json") & done)[:SAMPLE]
    found = (
        (storage.read_json(f"durations/{name}.json") or {}).get("seconds") for name in recorded
    )
    return tuple(float(seconds) for seconds in found if is_number(seconds, 0, LONGEST))
