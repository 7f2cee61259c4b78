"""Logs with a line for each operation, millions of them: read as columns of numbers, not line by line."""

from typing import Any

from iosonde.core.message import Message

from .parsed import Parsed, Row
from .text import Text


def read_number_rows(text: Text, first_line: int, columns: int, run: Parsed) -> tuple[Any, Any]:
    """Return (lines × columns array, line numbers) of the rows with ``columns`` numbers; others are noted and left
    out."""
    import numpy as np

    begin = 0
    for _ in range(first_line - 1):
        begin = text.content.find("\n", begin) + 1
    table = _read_rectangle(text.content[begin:].rstrip("\n"), columns)
    if table is not None:
        return table, np.arange(first_line, first_line + len(table))
    rows, row_lines, n_unreadable = [], [], 0
    for at, line in enumerate(text.lines[first_line - 1 :], first_line):
        if not line.strip():
            continue
        row = _parse_numbers(line) if line.count(",") == columns - 1 else None
        if row is not None and row.size == columns:
            rows.append(row)
            row_lines.append(at)
        else:
            n_unreadable += 1
            if n_unreadable == 1:
                run.warn(
                    at,
                    Message(
                        "unreadable-lines",
                        "not {columns} numbers: this line, and others like it, were left out",
                        columns=columns,
                    ),
                )
    if n_unreadable:
        run.lacks(0, Message("unreadable-lines", "{n_lines} lines of the log are unreadable", n_lines=n_unreadable))
    return np.array(rows, float).reshape(len(rows), columns), np.array(row_lines, np.int64)


def _read_rectangle(body: str, columns: int) -> Any:
    """Return the table of a text in which every line has ``columns`` numbers, separated by commas; else None."""
    import numpy as np

    if not body.isascii() or not body:
        return None
    flat = _parse_numbers(body)
    if flat is None or flat.size % columns:
        return None
    rows = flat.size // columns
    characters = np.frombuffer(body.encode("ascii"), np.uint8)
    ends, commas = np.flatnonzero(characters == ord("\n")), np.flatnonzero(characters == ord(","))
    if len(ends) != rows - 1 or len(commas) != rows * (columns - 1):
        return None
    between = commas.reshape(rows, columns - 1)
    is_mixed = (between[:-1, -1] > ends).any() or (between[1:, 0] < ends).any()
    return None if is_mixed else flat.reshape(rows, columns)


def _parse_numbers(body: str) -> Any:
    """Return all numbers of a text of numbers, commas and blanks; None if it contains anything else."""
    import warnings

    import numpy as np

    blank = body.replace(",", " ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Whole numbers are read eight times faster as such; a point or an exponent makes it stop.
        for kind in (np.int64, np.float64):
            try:
                flat = np.fromstring(blank, dtype=kind, sep=" ")
            except (DeprecationWarning, ValueError, OverflowError):
                continue
            if kind is np.float64 and not np.isfinite(flat).all():
                return None
            return flat.astype(np.float64)
    return None


def add_summary_rows(run: Parsed, operation: str, seconds: Any, lines: Any) -> None:
    """Add count, mean, extremes and exact percentiles (nearest rank) of a log's durations, with their lines."""
    import numpy as np

    if not len(seconds):
        run.lacks(0, Message("no-results", "the log holds no {operation} operation", operation=operation))
        return
    count, first = len(seconds), int(lines[0])
    order = np.argsort(seconds, kind="stable")
    low, high = int(order[0]), int(order[-1])
    run.rows += [
        Row(operation, "operations", count, "operations", first, count=count),
        Row(operation, "latency_mean", float(seconds.mean()), "s", first, count=count),
        Row(operation, "latency_min", float(seconds[low]), "s", int(lines[low]), count=count),
        Row(operation, "latency_max", float(seconds[high]), "s", int(lines[high]), count=count),
    ]
    for level in (50, 90, 99, 99.9):
        place = int(order[max(0, int(np.ceil(count * level / 100)) - 1)])
        value = float(seconds[place])
        run.rows.append(Row(operation, f"latency_p{level:g}", value, "s", int(lines[place]), count=count))
