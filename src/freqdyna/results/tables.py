"""Tables of runs and of comparisons: for the terminal, and as CSV and LaTeX files."""

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import SupportsFloat

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.results.chart import record_labels
from freqdyna.results.folder import write_output
from freqdyna.results.measures import (
    MEASURES,
    ComparedPair,
    ComparedRun,
    EnvironmentComparison,
    Estimate,
)
from freqdyna.results.record import Record, return_name

NAMES = ("run", "environment")
"""The columns that have names."""
Rows = list[list[str]]
"""Rows of cells, the header first."""
NO_NUMBER = "–"
"""A cell without a number."""
LEGEND = (
    "Brackets are 95% bootstrap intervals over seeds; a number without one is not exact, but the "
    "same in all resamples. IQM is the mean of the middle half of the seeds. P(better) is the "
    "probability that a seed of the first run of a pair is above one of the second. p is that of "
    "a permutation test of the means, corrected for the number of comparisons in these tables "
    "(Holm): below 0.05, the mean of the first run is higher or lower; otherwise the comparison is "
    "undecided."
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "−": "$-$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after the end of a row it would be taken for an option
}
"""What LaTeX needs instead of a character."""


def print_table(
    runs: Sequence[tuple[Path, Record]], names: list[str] | None = None, metric: str = "return"
) -> None:
    """Print `return_rows`, and where the runs are stored; `names` may name the runs of a sweep."""
    folders, results = zip(*runs, strict=True)
    console, name = Console(width=_width()), return_name(results) if metric == "return" else metric
    console.print(f"{name}, mean over seeds [95% interval]", markup=False)
    console.print(rich_table(return_rows(results, names or record_labels(results), metric)))
    for folder in dict.fromkeys(folders):
        console.print(f"results: {folder}", highlight=False, soft_wrap=True)


def return_rows(results: Sequence[Record], names: Sequence[str], metric: str = "return") -> Rows:
    """A row for each run: its mean return after the warm-up, and at the last evaluation.

    Or those of another metric, which may be missing at some evaluations.
    """
    rows = [["run", "environment", "seeds", "steps", "after the warm-up", "at the end"]]
    for result, name in zip(results, names, strict=True):
        complete = result.complete_seeds
        values = result.metrics[metric][complete.kept]
        if metric == "return":
            later = result.mean_return()[complete.kept & result.after_warmup.any()]
        else:
            known = result.after_warmup & np.isfinite(values).all(0)
            later = values[:, known].mean(1) if known.any() else np.zeros(0)
        means = [
            Estimate.of(lambda seeds: seeds.mean(-1), numbers) for numbers in (later, values[:, -1])
        ]
        digits = decimals([mean.value for mean in means])
        cells = [estimate(mean, digits) for mean in means]
        rows.append([name, result.env_name, complete.text(), f"{result.steps[-1]:,}", *cells])
    return rows


def title(environment: EnvironmentComparison) -> str:
    """What the numbers of an environment are."""
    steps, x = environment.measured_steps, environment.x
    first, last = (position(float(at), x) for at in steps[[0, -1]])
    over = f"{x} {first} to {last}" if len(steps) > 1 else f"{x.removesuffix('s')} {first}"
    what, evaluations = MEASURES[environment.measure], counted(len(steps), "evaluation")
    return f"{environment.env}: {what}, {over} ({evaluations})"


def run_rows(environment: EnvironmentComparison) -> Rows:
    """A row for each run: number, name, seeds, mean, IQM and steps to the threshold."""
    runs, threshold = environment.runs, environment.threshold
    digits = decimals([v for run in runs for v in (run.mean.value, run.iqm.value)])
    target = "threshold" if math.isnan(threshold) else number(threshold, decimals([threshold]))
    rows = [["#", "run", "seeds", "mean", "IQM", f"{environment.x} to {target}"]]
    for place, run in enumerate(runs, 1):
        estimates = (estimate(one, digits) for one in (run.mean, run.iqm))
        reached = to_threshold(environment, run)
        rows.append([str(place), run.label, run.seeds.text(), *estimates, reached])
    return rows


def pair_rows(environment: EnvironmentComparison) -> Rows:
    """A row for each pair: differences, probability of improvement, p-values and verdict."""
    pairs = environment.pairs
    places = {id(run): place for place, run in enumerate(environment.runs, 1)}
    differences = [(pair.mean_difference, pair.iqm_difference) for pair in pairs]
    digits = decimals([one.value for both in differences for one in both])
    rows = [["pair", "mean difference", "IQM difference", "P(better)", "p (Holm)", "mean is"]]
    for pair, both in zip(pairs, differences, strict=True):
        rows.append(
            [
                f"{places[id(pair.first)]} − {places[id(pair.second)]}",
                *(estimate(one, digits, signed=True) for one in both),
                estimate(pair.probability_of_improvement, 2),
                f"{pair.corrected_p:.2g}".replace("-", "−"),
                pair.verdict,
            ]
        )
    return rows


def as_text(environments: Sequence[EnvironmentComparison], notes: Sequence[str]) -> str:
    """All tables and notes as text, as wide as the terminal; 80 columns suffice."""
    file = io.StringIO()
    console = Console(file=file, width=_width())
    for environment in environments:
        console.print(Text(title(environment), style="bold"))
        console.print(rich_table(run_rows(environment)))
        console.print(rich_table(pair_rows(environment)))
    for note in (*notes, LEGEND):
        console.print(Text(note))
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    return "\n".join(line for i, line in enumerate(lines) if line or lines[i - 1])


def _width() -> int:
    """The columns of the terminal; in a file or a pipe there is room for long names."""
    return get_terminal_size((120, 24)).columns


def decimals(values: Sequence[float]) -> int:
    """Decimals with which the largest of some numbers has about three digits, at most 3."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 0 if largest == 0 else min(3, max(0, 2 - math.floor(math.log10(largest))))


def number(value: float, digits: int, signed: bool = False) -> str:
    """A number with so many decimals, with a minus sign rather than a hyphen; never -0."""
    return f"{value:{'+' if signed else ''}z,.{digits}f}".replace("-", "−")


def position(value: float, x: str) -> str:
    """A number of steps, or of seconds."""
    return f"{value:,.0f}" if x == "steps" else number(value, decimals([value]))


def estimate(one: Estimate, digits: int, signed: bool = False) -> str:
    """A number and its interval, as in "−120 [−131, −112]"."""
    if not math.isfinite(one.value):
        return NO_NUMBER
    text = number(one.value, digits, signed)
    if one.interval is None:
        return text
    low, high = (number(end, digits, signed) for end in one.interval)
    return f"{text} [{low}, {high}]"


def to_threshold(environment: EnvironmentComparison, run: ComparedRun) -> str:
    """The median over seeds, and how many seeds reach the threshold."""
    first = run.steps_to_threshold
    if not len(first) or math.isnan(environment.threshold):
        return NO_NUMBER
    if environment.threshold_is_met_untrained:
        return "met untrained"
    middle = float(np.median(first))
    reached = int(np.isfinite(first).sum())
    if math.isfinite(middle):
        return f"{position(middle, environment.x)} ({reached} of {len(first)})"
    return f"reached by {reached} of {len(first)}"


def rich_table(rows: Rows) -> Table:
    """A table for the terminal, with intervals, counts and reasons below their numbers."""
    table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in rows[0]:
        is_name = name in NAMES
        header = name.replace(" ", "\n", 1)
        table.add_column(
            header, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold"
        )
    for row in rows[1:]:
        cells = zip(rows[0], row, strict=True)
        table.add_row(
            *(Text(c if n in NAMES else re.sub(r" (?=[\[(])|; ", "\n", c)) for n, c in cells)
        )
    return table


def require_table(path: Path) -> None:
    """Raise an error for a file that `save_table` does not write."""
    if path.suffix not in (".csv", ".tex"):
        raise FreqdynaError(f"table is {str(path)!r}; it must end in .csv or .tex")


def save_table(
    environments: Sequence[EnvironmentComparison], notes: Sequence[str], path: Path
) -> None:
    """Write the tables to a file that ends in .csv, or in .tex, where notes become comments."""
    require_table(path)
    text = as_csv(environments) if path.suffix == ".csv" else as_latex(environments, notes)
    write_output(path, text.encode())


def as_csv(environments: Sequence[EnvironmentComparison]) -> str:
    """One row for each pair, with the numbers of both runs; a cell is empty without a number."""
    rows = [_pair_columns(one, pair) for one in environments for pair in one.pairs]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _pair_columns(environment: EnvironmentComparison, pair: ComparedPair) -> dict[str, object]:
    columns: dict[str, object] = {
        "environment": environment.env,
        "measure": environment.measure,
        "x": environment.x,
        "first_x": _cell(environment.measured_steps[0]),
        "last_x": _cell(environment.measured_steps[-1]),
        "threshold": _cell(environment.threshold),
    }
    for which, run in (("first", pair.first), ("second", pair.second)):
        reached = run.steps_to_threshold
        columns |= {
            which: run.label,
            f"{which}_seeds": len(run.scores),
            f"{which}_seeds_left_out": int((~run.seeds.kept).sum()),
            **_estimate_columns(f"{which}_mean", run.mean),
            **_estimate_columns(f"{which}_iqm", run.iqm),
            f"{which}_median_x_to_threshold": _cell(np.median(reached) if len(reached) else np.inf),
            f"{which}_seeds_above_threshold": int(np.isfinite(reached).sum()),
        }
    return {
        **columns,
        **_estimate_columns("mean_difference", pair.mean_difference),
        **_estimate_columns("iqm_difference", pair.iqm_difference),
        **_estimate_columns("probability_of_improvement", pair.probability_of_improvement),
        "p": _cell(pair.p),
        "p_holm": _cell(pair.corrected_p),
        "verdict": pair.verdict,
    }


def _estimate_columns(name: str, one: Estimate) -> dict[str, object]:
    low, high = one.interval or (math.nan, math.nan)
    return {name: _cell(one.value), f"{name}_low": _cell(low), f"{name}_high": _cell(high)}


def _cell(value: SupportsFloat) -> str:
    """A number with up to 9 digits, without rounding errors; empty if it is not finite."""
    return f"{float(value):.9g}" if math.isfinite(value) else ""


def as_latex(environments: Sequence[EnvironmentComparison], notes: Sequence[str]) -> str:
    """Two tables for each environment, runs and pairs, for the LaTeX package booktabs."""
    tables = [
        (title(environment), rows)
        for environment in environments
        for rows in (run_rows(environment), pair_rows(environment))
    ]
    lines = ["% Requires \\usepackage{booktabs}."]
    for heading, rows in tables:
        columns = "".join("l" if name in NAMES else "r" for name in rows[0])
        header, *body = [" & ".join(map(_escaped, row)) + r" \\" for row in rows]
        lines += [f"% {heading}", f"\\begin{{tabular}}{{{columns}}}", r"\toprule", header]
        lines += [r"\midrule", *body, r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([*lines, *(f"% {note}" for note in (*notes, LEGEND)), ""])


def _escaped(text: str) -> str:
    """A text in which LaTeX has no special characters."""
    return "".join(_LATEX.get(character, character) for character in text)
