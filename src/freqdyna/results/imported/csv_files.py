"""Curves in CSV files: one row for each seed and step."""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from freqdyna.core.errors import FreqdynaError, shown
from freqdyna.results.imported.curves import Curve


class Columns(NamedTuple):
    """The names of the columns."""

    seed: str = "seed"
    step: str = "step"
    returns: str = "return"


def read_csv_curves(paths: Sequence[Path], columns: Columns) -> list[Curve]:
    """The curves in CSV files, which together have one row for each seed and step."""
    found: dict[int, dict[int, float]] = {}
    for path in paths:
        for line, (seed, step, value) in csv_numbers(path, columns):
            for name, number in ((columns.seed, seed), (columns.step, step)):
                if not (number.is_integer() and 0 <= number < 2**53):
                    raise FreqdynaError(
                        f"{path}, line {line}: {name} is {number:g}; it must be an integer, 0 or "
                        "greater"
                    )
            curve = found.setdefault(int(seed), {})
            if int(step) in curve:
                raise FreqdynaError(
                    f"{path}, line {line}: {columns.seed} {int(seed)} has {columns.step} "
                    f"{int(step)} twice; it must have one row for each step"
                )
            curve[int(step)] = value
    return [
        Curve(seed, np.array(sorted(of)), np.array([of[step] for step in sorted(of)]))
        for seed, of in sorted(found.items())
    ]


def csv_numbers(
    path: Path, columns: Sequence[str], comments: int = 0
) -> Iterator[tuple[int, tuple[float, ...]]]:
    """The numbers in some columns of a CSV file.

    Args:
        path: The file.
        columns: The names of the columns.
        comments: The number of lines before the header.

    Yields:
        The number of a line, and its numbers in these columns.

    """
    lines = read_lines(path)[comments:]
    if not any(line.strip() for line in lines):
        raise FreqdynaError(
            f"{path} is empty; it must have a header with the columns {', '.join(columns)}, and "
            "rows below it"
        )
    rows = csv.reader(lines)
    header = [name.strip() for name in next(rows, [])]
    for name in columns:
        if header.count(name) != 1:
            has = "has no column" if name not in header else "has two columns"
            raise FreqdynaError(f"{path} {has} {name!r}; its columns are {', '.join(header)}")
    places = [header.index(name) for name in columns]
    empty = True
    for row in rows:
        line = comments + rows.line_num
        if not row:
            continue
        if len(row) != len(header):
            raise FreqdynaError(
                f"{path}, line {line} has {len(row)} cells; it must have {len(header)}"
            )
        empty = False
        yield line, tuple(_number(path, line, header[place], row[place]) for place in places)
    if empty:
        raise FreqdynaError(f"{path} has no rows below its header")


def read_lines(path: Path) -> list[str]:
    """The lines of a text file."""
    try:
        return path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FreqdynaError(f"{path} is not a text file") from None
    except OSError as error:
        raise FreqdynaError(f"{path} cannot be read: {error.strerror}") from None


def _number(path: Path, line: int, name: str, cell: str) -> float:
    """The number in a cell; NaN for a return that is missing."""
    try:
        number = float(cell)
    except ValueError:
        raise FreqdynaError(
            f"{path}, line {line}: {name} is {shown(cell)}; it must be a number"
        ) from None
    return number if math.isfinite(number) else math.nan
