"""One execution of elbencho that wrote its results in several forms (``--jsonfile``, ``--csvfile``, ``--resfile``):
which of them tell of the same, and the one run that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from .parsed import Parsed

HEAD = b"ISO date,label,"
# What all forms say, as how exactly the least exact does: whole ms, MiB/s and operations/s.
_COMPARED = {
    "time_last_done": 0.0015,
    "bandwidth_last_done": 1.01 * 1024.0**2,
    "rate_last_done": 1.01,
    "access_rate_last_done": 1.01,
}
_BLANKS = re.compile(r"[\s,]+")
_EXACT = (".json", ".csv")


def join(parts: Sequence[tuple[str, Parsed]]) -> list[tuple[str, Parsed, list[str]]]:
    """(file, what it says) of a directory → the same, each execution once: (the file that says most exactly, all that
    is said, the other files of it). The text's percentiles are beside the numbers of the JSON or the CSV."""
    executions: list[tuple[str, Parsed, list[str]]] = []
    by_command: dict[str, list[int]] = {}
    for name, parsed in sorted(
        parts, key=lambda part: _EXACT.index(end) if (end := _name_suffix(part[0])) in _EXACT else 2
    ):
        command = _normalise_command(parsed)
        same = (at for at in by_command.get(command, ()) if command and _may_be(executions[at], name, parsed))
        index = next(same, None)
        if index is None:
            by_command.setdefault(command, []).append(len(executions))
            executions.append((name, parsed, []))
        else:
            executions[index][2].append(name)
            _merge_account(executions[index][1], PurePath(name).name, parsed)
    return executions


def _name_suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def _normalise_command(parsed: Parsed) -> str:
    """The command; the CSV writes its commas as blanks."""
    return _BLANKS.sub(" ", str(parsed.facts.get("command", ""))).strip()


def _may_be(execution: tuple[str, Parsed, list[str]], name: str, parsed: Parsed) -> bool:
    """Whether this is the same execution. What stands twice in one file was executed twice."""
    if name in (execution[0], *execution[2]):
        return False
    mine, theirs = _collect_values(execution[1]), _collect_values(parsed)
    both = mine.keys() & theirs.keys()
    return bool(both) and all(abs(mine[key] - theirs[key]) <= _COMPARED[key[1]] for key in both)


def _collect_values(parsed: Parsed) -> Mapping[tuple[str, str], float]:
    """The last of each, where an operation comes twice (sync)."""
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
