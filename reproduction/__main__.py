"""`python -m reproduction F3`: from a clone of the repository, not from an installed package."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class Command:
    """Compare a part of the paper with the stored results; what is not stored is computed."""

    name: tyro.conf.Positional[str]
    """A part of the paper, such as F1, or "all"; "list" lists the parts; "overview" prints tables
    of what holds and what does not; "page" writes all results to a page."""
    out: Path | None = None
    """The folder of results. If unset: results/reproduction, or runs/reproduction-quick with
    --quick."""
    quick: bool = False
    """A smoke test that takes less than a minute; too small for conclusions."""
    processes: int | None = None
    """How many trainings to compute at a time. If unset: one per core or GPU."""
    verify: bool = False
    """Train one randomly chosen stored training of this part again, and compare."""
    seeds: int = 10
    """For --verify: how many seeds to train."""
    page: Path | None = None
    """For "page": the file to write. If unset: docs/reproduction.md."""

    def run(self) -> None:
        """Run the command."""
        from reproduction import pages, run

        folder = self.out or (run.QUICK if self.quick else run.STORED)
        for name, number in (("processes", self.processes), ("seeds", self.seeds)):
            if number is not None and number < 1:
                raise FreqdynaError(f"{name} is {number}; it must be an integer, 1 or greater")
        if self.name == "list":
            pages.print_list(folder, self.quick)
        elif self.name == "overview":
            print(pages.overview(folder), end="")
        elif self.name == "page":
            path = self.page or Path("docs/reproduction.md")
            path.write_text(pages.page(folder, path))
            print(f"page: {path}")
        elif self.verify:
            print(run.verify(run.find(self.name), folder, self.seeds, self.processes))
        else:
            for part in run.PARTS if self.name == "all" else [run.find(self.name)]:
                findings = run.reproduce(part, folder, self.quick, self.processes)
                pages.print_findings(findings, self.quick)
                print(f"figure: {run.figure_of(folder, part.name)}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a failure is one sentence."""
    try:
        tyro.cli(Command, prog="python -m reproduction", args=arguments).run()
    except (FreqdynaError, OSError) as error:
        sys.exit(f"reproduction: {error}")
    except KeyboardInterrupt:
        sys.exit("reproduction: stopped; the same command resumes")


if __name__ == "__main__":
    main()
