"""Join the results that elbencho wrote in several forms in one execution (``--jsonfile``, ``--csvfile``, ``--resfile``)
to one run."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from .parsed import Parsed

HEAD = b"ISO date,label,"
# Quantities in all forms, with the precision of the least exact: whole ms, MiB/s and operations/s.
_COMPARED = {
    "time_last_done": 0.0015,
    "bandwidth_last_done": 1.01 * 1024.0**2,
    "rate_last_done": 1.01,
    "access_rate_last_done": 1.01,
}
_BLANKS = re.compile(r"[\s,]+")
_EXACT = {".json": 0, ".csv": 1}


def join_executions(parts: Sequence[tuple[str, Parsed]]) -> list[tuple[str, Parsed, list[str]]]:
    """Join the (file, Parsed) of a directory, so that each execution occurs once. Returns (the most exact file, its
    Parsed with the content of all, the other files). The text's percentiles are added to the numbers of the JSON or the
    CSV.
    """
    executions: list[tuple[str, Parsed, list[str]]] = []
    by_command: dict[str, list[int]] = {}
    for name, parsed in sorted(parts, key=lambda part: _EXACT.get(PurePath(part[0]).suffix.lower(), 2)):
        # The CSV writes the commas of a command as blanks.
        command = _BLANKS.sub(" ", str(parsed.facts.get("command", ""))).strip()
        same = (at for at in by_command.get(command, ()) if command and _is_possibly_same(executions[at], name, parsed))
        index = next(same, None)
        if index is None:
            by_command.setdefault(command, []).append(len(executions))
            executions.append((name, parsed, []))
        else:
            executions[index][2].append(name)
            _merge_account(executions[index][1], PurePath(name).name, parsed)
    return executions


def _is_possibly_same(execution: tuple[str, Parsed, list[str]], name: str, parsed: Parsed) -> bool:
    """Return whether this may be the same execution. Duplicates within one file were executed twice."""
    if name in (execution[0], *execution[2]):
        return False
    mine, theirs = _collect_values(execution[1]), _collect_values(parsed)
    both = mine.keys() & theirs.keys()
    return bool(both) and all(abs(mine[key] - theirs[key]) <= _COMPARED[key[1]] for key in both)


def _collect_values(parsed: Parsed) -> Mapping[tuple[str, str], float]:
    """Return the last value of each, if an operation repeats (sync)."""
    return {(row.operation, row.metric): row.value for row in parsed.rows if row.metric in _COMPARED}


def _merge_account(run: Parsed, account: str, other: Parsed) -> None:
    run.adopt_missing(account, other)
    there = {(row.operation, row.metric, row.rank) for row in run.rows}
    for row in other.rows:
        if (row.operation, row.metric, row.rank) not in there:
            row.line = 0
            run.rows.append(row)
    run.factors = {**other.factors, **run.factors}
    run.version = run.version or other.version
    run.started_at = min(filter(None, (run.started_at, other.started_at)), default="")
