"""A CSV of numbers and words as a Table, read by nothing of ours: for tests of rooms below the one that reads files."""

from __future__ import annotations

import csv
from pathlib import Path

from iosonde.core.table import Table, build_table


def table_from(path: Path | str) -> Table:
    """The columns of a CSV with one header line, and comments; a column of which every cell is a number is numeric."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.reader(file, skipinitialspace=True) if row and not row[0].startswith("#")]
    header, *rows = [[cell.strip() for cell in row] for row in lines]
    return build_table({name: _cells([row[at] for row in rows]) for at, name in enumerate(header)}, str(path))


def _cells(texts: list[str]) -> list[object]:
    try:
        return [float(text) if text else None for text in texts]
    except ValueError:
        return [text or None for text in texts]
