"""The command `freqdyna report`."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class WriteReport:
    """Write an interactive HTML page about runs or sweeps."""

    folders: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of run folders, and sweeps (folders or addresses such as
    s3://bucket/sweep)."""
    out: Path = Path("report.html")
    """The file to write."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.report import page
        from freqdyna.sweeps.load import Location, find, relative

        if self.out.suffix != ".html":
            raise FreqdynaError(f"out is {str(self.out)!r}; it must end in .html")
        if self.out.is_dir() or not self.out.absolute().parent.is_dir():
            raise FreqdynaError(f"out is {str(self.out)!r}; its folder must exist")
        page.library()  # before anything is analysed
        trainings, known = [], set[Location]()
        for folder in self.folders:
            trainings += find(folder, known)
            print(f"{relative(folder)}: {len(trainings)} so far", file=sys.stderr, flush=True)
        if not trainings:
            raise FreqdynaError("folders is empty; it must have at least one folder")
        names = map(relative, self.folders)
        command = shlex.join(["freqdyna", "report", *names, "--out", self.out.name])
        results = [training.result for training in trainings]
        sources = [training.source for training in trainings]
        page.write(page.report(results, sources, command), self.out)
        print(f"report: {self.out} ({self.out.stat().st_size / 1e6:.1f} MB)")
