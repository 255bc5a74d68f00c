"""The command `freqdyna reproduce`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.errors import FreqdynaError


@dataclass(frozen=True)
class Reproduce:
    """Compute a figure or statement of the paper and test its claims."""

    name: tyro.conf.Positional[str]
    """A part of the paper, such as F1; "all" computes every part in turn; "list" lists all parts
    with their state; "table" writes a page with all stored results; "overview" writes tables of
    what holds and what does not; "guide" writes tables that compare search-controls."""
    quick: bool = False
    """A smoke test that takes less than a minute; too small for conclusions."""
    out: Path | None = None
    """The folder of the results. If unset: runs/reproduce, or runs/reproduce-quick with --quick."""
    seeds: int | None = None
    """Seeds per training, for the learning experiments (F3 to F8, X1, S, R and C). If unset:
    30, 100 for the main comparisons of F3 and F4, and 10 for F7."""
    processes: int = 1
    """How many units to compute at a time; on a GPU, use the number of CPU cores."""
    together: bool = False
    """Compute trainings that differ only in learning rate, target period and reward noise as rows
    of one program, which is much faster on a GPU."""
    dry_run: bool = False
    """Compute nothing; list the units of work and which of them are stored."""
    verify: bool = False
    """Repeat one randomly chosen stored training of a learning experiment, and compare."""
    page: Path | None = None
    """For "table": the Markdown file to write. For "overview" and "guide": an existing one, in
    which the tables between lines such as "<!-- overview: begin -->" and "<!-- overview: end -->"
    are replaced; those of "guide" are called "guide, in short", "guide, true model", "guide,
    learned model" and "guide, defaults". If unset: print it."""

    def run(self) -> None:
        """Run the command."""
        from reproduction import overview, registry, reproduce, tables

        out = self.out or (reproduce.QUICK if self.quick else reproduce.FULL)
        self._check()
        if self.name == "list":
            tables.print_list(out, self.quick)
        elif self.name == "table":
            self._write_page(tables.page(out, self.page or Path("reproduction.md"), self.quick))
            for damage in tables.damages(out, self.quick):
                print(f"freqdyna: {damage}", file=sys.stderr)
        elif self.name == "overview":
            self._write_tables({"overview": overview.tables(out)})
        elif self.dry_run:
            for name in self._names():
                print(f"{name}:")
                for line in reproduce.plan(registry.find(name), out, self.quick, self.seeds):
                    print(f"  {line}")
        elif self.verify:
            from reproduction.verify import verify

            print(verify(registry.find(self.name), out, self.seeds))
        else:
            for name in self._names():
                experiment = registry.find(name)
                findings = reproduce.reproduce(
                    experiment, out, self.quick, self.seeds, self.processes, self.together
                )
                tables.print_findings(findings, self.quick)
                print(f"results and figure: {out / name}")

    def _names(self) -> list[str]:
        """The experiments that are meant."""
        from reproduction.registry import PARTS

        every = [name for name, part in PARTS.items() if part.experiment]
        return every if self.name == "all" else [self.name]

    def _check(self) -> None:
        """Raise an error for invalid combinations before anything is computed."""
        page = str(self.page)
        if self.page and self.name not in ("table", "overview", "guide"):
            raise FreqdynaError(
                f"page is {page!r}; it can only be used with 'table', 'overview' or 'guide'"
            )
        if self.page and (self.page.is_dir() or not self.page.parent.is_dir()):
            raise FreqdynaError(f"page is {page!r}; it must be a file in a folder that exists")
        usual = {
            "seeds": None,
            "processes": 1,
            "together": False,
            "dry_run": False,
            "verify": False,
        }
        given = {name: getattr(self, name) for name in usual}
        for name, value in given.items():
            if self.name == "all" and name in ("seeds", "verify") and value != usual[name]:
                raise FreqdynaError(f"{name} is {value}; it cannot be used with 'all'")
            if self.name in ("list", "table", "overview", "guide") and value != usual[name]:
                raise FreqdynaError(
                    f"{name} is {value}; {self.name!r} computes nothing, so omit it"
                )
            if value is not None and value is not False and value < 1:
                raise FreqdynaError(f"{name} is {value}; it must be an integer, 1 or greater")
        if self.dry_run and self.verify:
            raise FreqdynaError("dry_run is True; verify computes something, so omit one of them")
        if self.quick and (self.verify or self.name in ("overview", "guide")):
            what = "verify is True; it" if self.verify else f"quick is True; {self.name!r}"
            raise FreqdynaError(f"{what} needs the full size, so omit --quick")

    def _write_tables(self, found: dict[str, str]) -> None:
        """Print tables, or replace those for which the page has lines."""
        from reproduction import overview

        if self.page is None:
            print("\n".join(found.values()), end="")
            return
        page = self._read_page(self.page)
        names = [name for name in found if overview.lines_of(name)[0] in page]
        for name in names or found:
            page = overview.replaced(page, found[name], name)
        self._write_page(page)

    def _read_page(self, path: Path) -> str:
        try:
            return path.read_text()
        except OSError as error:
            raise FreqdynaError(f"page is {str(path)!r}, which cannot be read: {error}") from None

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


if __name__ == "__main__":
    try:
        tyro.cli(Reproduce, prog="python -m reproduction").run()
    except FreqdynaError as error:
        sys.exit(f"reproduction: {error}")
