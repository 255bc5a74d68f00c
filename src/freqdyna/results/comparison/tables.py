"""The tables of a comparison, as rows of texts, and for the terminal."""

import io
import math
import re
from collections.abc import Sequence
from shutil import get_terminal_size

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from freqdyna.core.errors import counted
from freqdyna.results.comparison.findings import (
    MEASURES,
    AveragedPair,
    ComparedRun,
    EnvironmentComparison,
    Estimate,
)

NAMES = ("run", "than")
"""The columns that have names of runs."""
Rows = list[list[str]]
"""Rows of cells, the header first."""
AVERAGED = "P(better), averaged over environments"
NONE = "-"
"""A cell without a number."""
LEGEND = (
    "Brackets are 95% bootstrap intervals over seeds. IQM is the mean of the middle half of the "
    "seeds. P(better) is the probability that a seed of the first run of a pair is above one of "
    "the second. p is that of a permutation test of the means, corrected for the number of "
    "comparisons (Holm): below 0.05, the mean of the first run is higher or lower; otherwise the "
    "comparison is undecided."
)


def title(environment: EnvironmentComparison) -> str:
    """What the numbers of an environment are."""
    steps = environment.measured_steps
    what = MEASURES[environment.measure]
    over = f"steps {steps[0]:,} to {steps[-1]:,}" if len(steps) > 1 else f"step {steps[0]:,}"
    return f"{environment.env}: {what}, {over} ({counted(len(steps), 'evaluation')})"


def run_rows(environment: EnvironmentComparison) -> Rows:
    """A row for each run: number, name, seeds, mean, IQM and steps to the threshold."""
    runs = environment.runs
    digits = decimals([v for run in runs for v in (run.mean.value, run.iqm.value)])
    threshold = number(environment.threshold, decimals([environment.threshold]))
    rows = [["#", "run", "seeds", "mean", "IQM", f"steps to {threshold}"]]
    for place, run in enumerate(runs, 1):
        rows.append(
            [
                str(place),
                run.label,
                run.seeds.text(),
                *(estimate(one, digits) for one in (run.mean, run.iqm)),
                steps_to_threshold(run),
            ]
        )
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
                f"{pair.corrected_p:.2g}",
                pair.verdict,
            ]
        )
    return rows


def average_rows(averages: Sequence[AveragedPair]) -> Rows:
    """A row for each pair of names that several environments have."""
    rows = [["run", "than", "environments", "P(better)"]]
    for pair in averages:
        found = estimate(pair.probability_of_improvement, 2)
        rows.append([pair.first, pair.second, str(len(pair.environments)), found])
    return rows


def as_text(
    environments: Sequence[EnvironmentComparison],
    averages: Sequence[AveragedPair],
    notes: Sequence[str],
) -> str:
    """All tables and notes as text, as wide as the terminal; 80 columns suffice.

    Args:
        environments: The comparisons in each environment.
        averages: Those over several environments.
        notes: Sentences below the tables.

    """
    file = io.StringIO()
    console = Console(file=file, width=get_terminal_size().columns)
    for environment in environments:
        console.print(Text(title(environment), style="bold"))
        console.print(_rich(run_rows(environment)))
        console.print(_rich(pair_rows(environment)))
    if averages:
        console.print(Text(AVERAGED, style="bold"))
        console.print(_rich(average_rows(averages)))
    for note in (*notes, LEGEND):
        console.print(Text(note))
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    return "\n".join(line for i, line in enumerate(lines) if line or lines[i - 1])


def decimals(values: Sequence[float]) -> int:
    """Decimals with which the largest of some numbers has about three digits, at most 3."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 0 if largest == 0 else min(3, max(0, 2 - math.floor(math.log10(largest))))


def number(value: float, digits: int, signed: bool = False) -> str:
    """A number with so many decimals, with a minus sign rather than a hyphen; never -0."""
    return f"{value:{'+' if signed else ''}z,.{digits}f}".replace("-", "−")


def estimate(found: Estimate, digits: int, signed: bool = False) -> str:
    """A number and its interval, as in "−120 [−131, −112]"."""
    if not math.isfinite(found.value):
        return NONE
    text = number(found.value, digits, signed)
    if found.interval is None:
        return text
    low, high = (number(end, digits, signed) for end in found.interval)
    return f"{text} [{low}, {high}]"


def steps_to_threshold(run: ComparedRun) -> str:
    """The median over seeds, and how many seeds reach the threshold."""
    first = run.steps_to_threshold
    if not len(first):
        return NONE
    middle = float(np.median(first))
    number = int(np.isfinite(first).sum())
    if math.isfinite(middle):
        return f"{middle:,.0f} ({number} of {len(first)})"
    return f"reached by {number} of {len(first)}" if number else f"not reached (0 of {len(first)})"


def _rich(rows: Rows) -> Table:
    """A table for the terminal, with intervals, counts and reasons below their numbers."""
    table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in rows[0]:
        is_name = name in NAMES
        header = name.replace(" ", "\n", 1)
        table.add_column(
            header, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold"
        )
    for row in rows[1:]:
        table.add_row(
            *(
                Text(cell if name in NAMES else re.sub(r" (?=[\[(])|; ", "\n", cell))
                for name, cell in zip(rows[0], row, strict=True)
            )
        )
    return table
