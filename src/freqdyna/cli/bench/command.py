"""The command `freqdyna bench`."""

from dataclasses import dataclass
from pathlib import Path

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class Bench:
    """Measure how fast this machine trains; `make bench` also measures other libraries."""

    seeds: tuple[int, ...] = (1, 30)
    """Numbers of seeds to train at once; one measurement for each."""
    growth: bool = True
    """Also measure how the cost grows with seeds, d, m, state dimension and width."""
    out: Path = Path("bench.json")
    """File for the results (JSON)."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.cli.bench.tables import measure_all, our_jobs

        if not self.seeds:
            raise FreqdynaError("seeds is empty; it must have at least one number")
        for number in self.seeds:
            if number < 1:
                raise FreqdynaError(f"seeds is {number}; it must be an integer, 1 or greater")
        jobs = our_jobs(self.seeds)
        minutes = len(jobs) / 3 + (5 if self.growth else 0)
        print(f"This takes about {minutes:.0f} minutes, most of it compilation.", flush=True)
        measure_all(jobs, self.out, self.growth)
