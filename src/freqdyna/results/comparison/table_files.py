"""The table of a comparison as a CSV or LaTeX file."""

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically
from freqdyna.results.comparison.findings import (
    AveragedPair,
    ComparedPair,
    ComparedRun,
    EnvironmentComparison,
    Estimate,
)
from freqdyna.results.comparison.tables import (
    AVERAGED,
    LEGEND,
    NAMES,
    Rows,
    average_rows,
    pair_rows,
    run_rows,
    title,
)

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "−": "$-$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after the end of a row it would be taken for an option
}


def check_table_path(path: Path) -> None:
    """Raise an error unless the ending of a file is .csv or .tex."""
    if path.suffix not in (".csv", ".tex"):
        raise FreqdynaError(f"table is {str(path)!r}; it must end in .csv or .tex")


def save_table(
    environments: Sequence[EnvironmentComparison],
    averages: Sequence[AveragedPair],
    notes: Sequence[str],
    path: Path,
) -> None:
    """Write the table to a file.

    Args:
        environments: The comparisons in each environment.
        averages: Those over several environments.
        notes: Sentences that become comments in LaTeX.
        path: The file, which must end in .csv or .tex.

    """
    check_table_path(path)
    if path.suffix == ".csv":
        text = as_csv(environments, averages)
    else:
        text = as_latex(environments, averages, notes)
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise FreqdynaError(f"table is {str(path)!r}, which cannot be written: {error}") from None


def as_csv(environments: Sequence[EnvironmentComparison], averages: Sequence[AveragedPair]) -> str:
    """One row for each pair, with the numbers of both runs; a cell is empty without a number."""
    file = io.StringIO()
    rows = [
        _pair_columns(environment, pair)
        for environment in environments
        for pair in environment.pairs
    ]
    rows += [_average_columns(pair) for pair in averages]
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _pair_columns(environment: EnvironmentComparison, pair: ComparedPair) -> dict[str, object]:
    return {
        "environment": environment.env,
        "measure": environment.measure,
        "first_step": int(environment.measured_steps[0]),
        "last_step": int(environment.measured_steps[-1]),
        "threshold": environment.threshold,
        **_run_columns("first", pair.first),
        **_run_columns("second", pair.second),
        **_estimate_columns("mean_difference", pair.mean_difference),
        **_estimate_columns("iqm_difference", pair.iqm_difference),
        **_probability_columns(pair.probability_of_improvement),
        "p": _rounded(pair.p),
        "p_holm": _rounded(pair.corrected_p),
        "verdict": pair.verdict,
    }


def _average_columns(pair: AveragedPair) -> dict[str, object]:
    return {
        "environment": f"average over {' and '.join(pair.environments)}",
        "first": pair.first,
        "second": pair.second,
        **_probability_columns(pair.probability_of_improvement),
    }


def _run_columns(which: str, run: ComparedRun) -> dict[str, object]:
    first = run.steps_to_threshold
    median = float(np.median(first)) if len(first) else math.inf
    return {
        which: run.label,
        f"{which}_seeds": len(run.scores),
        f"{which}_seeds_left_out": int((~run.seeds.kept).sum()),
        **_estimate_columns(f"{which}_mean", run.mean),
        **_estimate_columns(f"{which}_iqm", run.iqm),
        f"{which}_median_steps_to_threshold": median if math.isfinite(median) else "",
        f"{which}_seeds_above_threshold": int(np.isfinite(first).sum()),
    }


def _estimate_columns(name: str, found: Estimate) -> dict[str, object]:
    low, high = found.interval or ("", "")
    value = found.value if math.isfinite(found.value) else ""
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _probability_columns(found: Estimate) -> dict[str, object]:
    interval = found.interval and (_rounded(found.interval[0]), _rounded(found.interval[1]))
    return _estimate_columns(
        "probability_of_improvement", Estimate(_rounded(found.value), interval)
    )


def _rounded(probability: float) -> float:
    """A probability with 6 digits, without the rounding error of, say, 0.9999999999999999."""
    return float(f"{probability:.6g}")


def as_latex(
    environments: Sequence[EnvironmentComparison],
    averages: Sequence[AveragedPair],
    notes: Sequence[str],
) -> str:
    """Two tables for each environment, runs and pairs, for the LaTeX package booktabs."""
    lines = ["% Requires \\usepackage{booktabs}."]
    for environment in environments:
        heading = title(environment)
        for rows in (run_rows(environment), pair_rows(environment)):
            lines += [f"% {heading}", *_tabular(rows), ""]
    if averages:
        lines += [f"% {AVERAGED}", *_tabular(average_rows(averages)), ""]
    return "\n".join([*lines, *(f"% {note}" for note in (*notes, LEGEND)), ""])


def _tabular(rows: Rows) -> list[str]:
    columns = "".join("l" if name in NAMES else "r" for name in rows[0])
    header, *body = [" & ".join(map(_escaped, row)) + r" \\" for row in rows]
    return [
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _escaped(text: str) -> str:
    """A text in which LaTeX has no special characters."""
    special = "|".join(map(re.escape, _SPECIAL))
    return re.sub(special, lambda found: _SPECIAL[found[0]], text)
