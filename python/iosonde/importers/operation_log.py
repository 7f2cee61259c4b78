"""Logs with a line for each operation, millions of them: read as columns of numbers, not line by line."""

from __future__ import annotations

from typing import Any

from .parsed import Parsed, Row
from .text import Text


def numbers(text: Text, first_line: int, columns: int, run: Parsed) -> tuple[Any, Any]:
    """(lines × columns array, line numbers) of the rows that are so many numbers; others are noted and left out."""
    import numpy as np

    lines = text.lines[first_line - 1 :]
    body = "\n".join(lines)
    rows = sum(1 for line in lines if line) if "\n\n" in body or body.endswith("\n") else len(lines)
    flat = _all_numbers(body)
    if flat is not None and flat.size == rows * columns and body.count(",") == rows * (columns - 1):
        places = np.array([at for at, line in enumerate(lines, first_line) if line], np.int64)
        return flat.reshape(rows, columns), places
    kept, places_kept, left_out = [], [], 0
    for at, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        one = _all_numbers(line) if line.count(",") == columns - 1 else None
        if one is not None and one.size == columns:
            kept.append(one)
            places_kept.append(at)
        else:
            left_out += 1
            if left_out == 1:
                run.warn(at, f"not {columns} numbers: this line, and others like it, were left out")
    if left_out:
        run.lacks(0, f"{left_out} lines of the log cannot be read")
    return np.array(kept, float).reshape(len(kept), columns), np.array(places_kept, np.int64)


def _all_numbers(body: str) -> Any:
    """All numbers of a text of numbers, commas and blanks; None if there is anything else in it."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            flat = np.fromstring(body.replace(",", " "), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return flat if np.isfinite(flat).all() else None


def read_log(text: Text, first_line: int, columns: int, operation: str) -> Parsed:
    """A CSV of start (s), duration (s), and perhaps bytes/s; it does not say which operation, so none is recorded."""
    import numpy as np

    run = Parsed()
    table, lines = numbers(text, first_line, columns, run)
    good = (table[:, :2] >= 0).all(axis=1) & (table[:, 1] < 1e9) if len(table) else np.zeros(0, bool)
    if not good.all():
        run.lacks(int(lines[~good][0]), "an operation with a negative or impossible time: left out")
    table, lines = table[good], lines[good]
    summary_rows(run, operation, table[:, 1], lines)
    return run


def summary_rows(run: Parsed, operation: str, seconds: Any, lines: Any) -> None:
    """Count, mean, extremes and exact percentiles (nearest rank) of a log's durations, with their lines."""
    import numpy as np

    if not len(seconds):
        run.lacks(0, f"the log holds no {operation} operation")
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
        name = f"latency_p{level:g}"
        run.rows.append(Row(operation, name, float(seconds[place]), "s", int(lines[place]), count=count))
