"""The command `freqdyna reproduce`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class Reproduce:
    """Compute a figure or statement of the paper and say whether its claims hold."""

    name: tyro.conf.Positional[str]
    """A part of the paper, such as F1; "all" is one after the other; "list" names them all with
    their state; "table" says what all stored results show."""
    quick: bool = False
    """A smoke run of under a minute, too small to conclude from."""
    out: Path | None = None
    """Where results are kept and looked for. Unset: runs/reproduce, with --quick
    runs/reproduce-quick."""
    seeds: int | None = None
    """Seeds of each training, for the learning experiments (F3 to F8, X1, S and R), which
    have 30 at full size, F7 has 10; the others have their own number, or none."""
    processes: int = 1
    """Parts computed at a time; on a GPU as many as the machine has cores."""
    verify: bool = False
    """Train one stored part of a learning experiment again, drawn at random, and compare."""
    page: Path | None = None
    """With "table": the page to write, in Markdown. Unset: print it."""

    def run(self) -> None:
        """Do it."""
        from freqdyna.experiments import registry, reproduce, tables

        out = self.out or (reproduce.QUICK if self.quick else reproduce.FULL)
        self._check()
        if self.name == "list":
            tables.print_list(out, self.quick)
        elif self.name == "table":
            self._write_page(tables.page(out, self.page or Path("reproduction.md"), self.quick))
            for damage in tables.damages(out, self.quick):
                print(f"freqdyna: {damage}", file=sys.stderr)
        elif self.verify:
            from freqdyna.experiments.verify import verify

            print(verify(registry.find(self.name), out, self.seeds))
        else:
            every = [name for name, part in registry.PARTS.items() if part.experiment]
            for name in every if self.name == "all" else [self.name]:
                experiment = registry.find(name)
                seeds, processes = self.seeds, self.processes
                findings = reproduce.reproduce(experiment, out, self.quick, seeds, processes)
                tables.print_findings(findings, self.quick)
                print(f"results and picture: {out / name}")

    def _check(self) -> None:
        """Refuse what does not go together, before anything is computed."""
        page = str(self.page)
        if self.page and self.name != "table":
            raise FreqdynaError(f"page is {page!r}; it goes with the name 'table' alone")
        if self.page and (self.page.is_dir() or not self.page.parent.is_dir()):
            raise FreqdynaError(f"page is {page!r}; it must be a file in a folder that exists")
        given = {"seeds": self.seeds, "processes": self.processes, "verify": self.verify}
        usual = {"seeds": None, "processes": 1, "verify": False}
        for name, value in given.items():
            if self.name == "all" and name != "processes" and value != usual[name]:
                raise FreqdynaError(f"{name} is {value}; it goes with one part, not with 'all'")
            if self.name in ("list", "table") and value != usual[name]:
                raise FreqdynaError(
                    f"{name} is {value}; {self.name!r} computes nothing, so omit it"
                )
            if value is not None and name != "verify" and value < 1:
                raise FreqdynaError(f"{name} is {value}; it must be an integer, 1 or greater")
        if self.verify and self.quick:
            raise FreqdynaError("verify is True; it is for full size, so omit --quick")

    def _write_page(self, text: str) -> None:
        if self.page is None:
            print(text, end="")
            return
        try:
            self.page.write_text(text)
        except OSError as error:
            raise FreqdynaError(
                f"page is {str(self.page)!r}, which cannot be written: {error}"
            ) from None
        print(f"page: {self.page}")
