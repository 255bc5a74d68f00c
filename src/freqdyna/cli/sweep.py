"""The commands `freqdyna sweep` and `freqdyna status`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from freqdyna.core.errors import FreqdynaError, RunFailedError
from freqdyna.core.plugins import current_folder_on_path
from freqdyna.training.interrupts import InterruptedRun

if TYPE_CHECKING:
    from freqdyna.sweeps.storage import Storage
    from freqdyna.sweeps.sweep import Sweep
    from freqdyna.training.engines import Engine


@dataclass(frozen=True)
class RunSweep:
    """Train every combination in a sweep file; the same command resumes or extends the sweep."""

    file: tyro.conf.Positional[Path]
    """A TOML file with [settings], [vary] and [seeds]; docs/sweeps.md has an example."""
    out: str
    """The folder of the results, or a location such as s3://...; an existing sweep is resumed."""
    engine: Literal["local", "ray"] = "local"
    """Where units run: on all devices of this machine, or on a Ray cluster."""
    address: str | None = None
    """Ray only: the cluster, such as "auto". If unset: a new cluster on this machine."""
    workers: int | None = None
    """Local only: the number of processes. If unset: units_per_gpu per GPU, or one per core."""
    units_per_gpu: int = 1
    """The number of units that share a GPU."""
    dry_run: bool = False
    """Only print the units, and which of them are stored; nothing is trained."""
    allow_code: bool = False
    """Whether the file may name code to import, as module:Class. Use it only if you trust it."""
    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints of a unit."""
    take_over: bool = False
    """Whether to ignore the lock of a process that was killed; for addresses such as s3://... ."""

    def run(self) -> None:
        """Run the command."""
        try:
            with current_folder_on_path(self.allow_code):
                self._run()
        except KeyboardInterrupt:
            raise InterruptedRun("stopped; the same command resumes") from None

    def _run(self) -> None:
        from freqdyna.results.tables import print_table
        from freqdyna.sweeps.execute import execute_sweep
        from freqdyna.sweeps.load import load_sweep
        from freqdyna.sweeps.search import print_trials, search
        from freqdyna.sweeps.status import stored_units
        from freqdyna.sweeps.storage import Storage
        from freqdyna.sweeps.sweep import Sweep

        self._check()
        sweep, storage = Sweep.read(self.file, self.allow_code), Storage(self.out)
        if self.dry_run:
            _print_status(sweep, storage)
            return
        arguments = sweep, storage, self._engine(), self.checkpoint_seconds, self.take_over
        if sweep.search is not None:
            trials = search(*arguments)
            print_trials(trials)
            missing = sweep.search.trials - sum(trial.state == "done" for trial in trials)
            if missing:
                raise RunFailedError(
                    f"{missing} of {sweep.search.trials} trials failed; freqdyna status shows why; "
                    "the same command retries them"
                )
            return
        if hidden := len(stored_units(storage) - {unit.name for unit in sweep.units()}):
            print(f"{hidden} finished units of {self.out} are not of this sweep file: not shown")
        status = execute_sweep(*arguments)
        if results := load_sweep(self.out):
            runs = [(Path(self.out), result) for result in results.values()]
            print_table(runs, list(results) if len(results) > 1 else None)
        if status.failed:
            name, error = next(iter(sorted(status.failed.items())))
            raise RunFailedError(
                f"{len(status.failed)} of {len(status.units)} units failed; {name}: {error}; "
                "the same command retries them"
            )

    def _check(self) -> None:
        from freqdyna.training.checkpoint import RunOptions

        RunOptions(self.checkpoint_seconds)  # raises an error if invalid
        for name, number in (("workers", self.workers), ("units_per_gpu", self.units_per_gpu)):
            if number is not None and number < 1:
                raise FreqdynaError(f"{name} is {number}; it must be an integer, 1 or greater")
        if self.address is not None and self.engine != "ray":
            raise FreqdynaError(f"address is {self.address!r}; it needs --engine ray")
        if self.workers is not None and self.engine != "local":
            raise FreqdynaError(f"workers is {self.workers}; it needs --engine local")

    def _engine(self) -> "Engine":
        from freqdyna.training.engines import Local, Ray

        if self.engine == "ray":
            return Ray(self.address, self.units_per_gpu)
        return Local(self.workers, self.units_per_gpu)


@dataclass(frozen=True)
class ShowStatus:
    """Show which units of a sweep are done, running and failed."""

    out: tyro.conf.Positional[str]
    """The folder or location of the sweep."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.sweeps.status import stored_sweep
        from freqdyna.sweeps.storage import Storage

        storage = Storage(self.out)
        _print_status(stored_sweep(storage), storage)


def _print_status(sweep: "Sweep", storage: "Storage") -> None:
    """Print the state of all units; of a search, of the trials so far, which decide on the next."""
    from freqdyna.sweeps.search import print_trials, trials_so_far
    from freqdyna.sweeps.status import read_status

    units = sweep.units()
    if sweep.search is not None:
        trials = trials_so_far(sweep, storage)
        units = [unit for trial in trials for unit in trial.units]
        print_trials(trials)
        print(f"{len(trials)} of {sweep.search.trials} trials are known; others depend on them")
    print(read_status(storage, units).listing())
