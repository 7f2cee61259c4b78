"""Rows of failed trials, as a column of outcomes states them (``ok``, ``FAIL``; ``rc`` 1; ``error`` EIO): their numbers
were not measured."""

import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import REMARK_NAMES, ColumnRole
from iosonde.core.column_units import split_column_name
from iosonde.core.column_values import has_integers
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table, format_cell, tidy_number

# Any of these words in a name, or that of a remark; a column of text.
_OUTCOMES = frozenset(("status", "result", "outcome", "success", "passed", "state", "ergebnis", "statut", "estado"))
# All words of a name, also of a column of numbers: 1 is a success.
_SUCCESSES = frozenset(("ok", "okay", "valid", "success", "successful", "passed", "pass", "gültig", "erfolg"))
# All words of a name, also of a column of numbers: 0 and nothing are a success.
_FAILURES = frozenset(
    ("rc", "exit", "code", "status", "return", "exitcode", "returncode", "retcode", "retval", "errno", "error", "err")
    + (
        "failed",
        "failure",
        "fail",
        "fehler",
        "fehlercode",
        "crashed",
        "aborted",
        "exception",
        "message",
        "msg",
    )
)
# Words of a name that counts failures: more than 0 of them failed the trial.
_FAILURE_COUNTS = frozenset(
    (
        "errors",
        "errs",
        "failures",
        "failed",
        "failure",
        "error",
        "err",
        "fehler",
        "erreurs",
        "errores",
        "aborts",
        "crashes",
    )
)
_COUNTED = frozenset(
    ("n", "no", "num", "number", "count", "counts", "of", "total", "io", "ios", "i", "o", "op", "ops", "operation")
    + ("operations", "request", "requests", "reqs", "read", "write", "anzahl")
)
_AMBIGUOUS = frozenset(("code", "return", "status", "message", "msg"))  # alone no names of failures
_SUCCESS = re.compile(
    r"ok(?:ay)?|pass(?:ed)?|succe(?:ss(?:ful)?|eded)|done|completed?|finished|true|yes|valid|gültig|erfolg(?:reich)?|ja|"
    r"fertig|none|no error|keiner?|0",
    re.IGNORECASE,
)
_FAILURE_WORDS = (
    r"time[ds]?[ -]?out|fail(?:ed|ure)?|err(?:or)?|killed|crash(?:ed)?|abort(?:ed)?|cancell?ed|oom|hung|dnf|"
    r"fehler(?:haft)?|fehlgeschlagen|abgebrochen|abbruch|abgestürzt|échec|erreur|fallo|invalid|ungültig|nok|not ok|"
    r"did ?n[o']t (?:finish|complete|start)|out of memory|seg(?:mentation )?fault|segv|core dumped|no space left|"
    r"unreachable|eio|enospc|enomem|etimedout"
)
_FAILURE = re.compile(_FAILURE_WORDS, re.IGNORECASE)
_MENTION = re.compile(rf"(?:^|\W)(?:{_FAILURE_WORDS})(?:$|\W)", re.IGNORECASE)
_MOST_LEVELS = 4
_NEGATIONS = ("false", "no", "nein")
Mask = npt.NDArray[np.bool_]


def drop_failed_rows(table: Table) -> Table:
    """Return the table without the rows that columns of outcomes call failed, if those are fewer than half, with a
    warning for each such column, which is no factor."""
    for name in table.names:
        column = table.columns[name]
        mask = _find_failed(column)
        if is_failure_count(column):
            mask = None if _is_measured_alone(table, column) else mask
            role = ColumnRole.FACT if set(column.levels) <= {0, 1} else ColumnRole.OUTCOME
            column = replace(column, role=column.role or role)
        if mask is not None:
            table = drop_rows(table, column, mask, "failed-rows", "trials failed")
    return table


def is_failure_count(column: Column) -> bool:
    """Return whether a column of whole numbers counts failures by its name: ``errors``, ``failed ops``."""
    words = set(split_column_name(column.label or column.name))
    has_words = bool(words & _FAILURE_COUNTS) and words <= _FAILURE_COUNTS | _COUNTED
    return has_words and column.numeric and not column.unit and has_integers(column)


def mentions_failure(cell: str) -> bool:
    """Return whether a cell that begins with no number says that a trial failed: ``OOM``, ``N/A (crashed)``."""
    return not cell[:1].isdigit() and _MENTION.search(cell) is not None


def drop_rows(table: Table, column: Column, mask: Mask, code: str, what: str) -> Table:
    """Return the table without the rows of the ``mask``, with a warning that says ``what`` they are by the levels of
    the ``column``, which becomes a fact."""
    levels = dict.fromkeys(tidy_number(level) if column.numeric else level for level in column.values[mask].tolist())
    message = Message(
        code,
        "{n} of {n_rows} {what} ({column} is {levels}; {place}): they are left out; to keep them, rename {column}",
        n=int(mask.sum()),
        n_rows=len(table),
        what=what,
        column=column.name,
        levels=" or ".join(map(format_cell, list(levels)[:_MOST_LEVELS])),
        place=table.place(int(np.flatnonzero(mask)[0])),
    )
    fact = replace(column, role=column.role or ColumnRole.FACT)
    table = replace(table, columns={**table.columns, column.name: fact}, warnings=(*table.warnings, message))
    return table.take(~mask)


def is_failure(text: str) -> bool:
    """Return whether a text says that a trial failed, and nothing else."""
    return _FAILURE.fullmatch(text.strip(" !.")) is not None


def _find_failed(column: Column) -> Mask | None:
    """Return which rows failed; None if the column holds no outcomes, or none or half of them are failures."""
    words = set(split_column_name(column.label or column.name))
    is_failure_name = words <= _FAILURES and (len(words) > 1 or not words <= _AMBIGUOUS) or is_failure_count(column)
    if column.unit or not words or column.missing.all():
        return None
    if column.numeric:
        failed = _mask_failed_numbers(column, is_failure_name, words <= _SUCCESSES)
    elif is_failure_name:
        failed = np.array([value is not None and not _is_no_failure(str(value)) for value in column.values])
    elif words & _OUTCOMES or words <= _SUCCESSES or words & REMARK_NAMES:
        failed = _mask_failed_words(column)
    else:
        return None
    return None if failed is None or not 0 < 2 * failed.sum() < len(failed) else failed


def _is_measured_alone(table: Table, column: Column) -> bool:
    """Return whether no other column looks measured."""
    others = (other for name, other in table.columns.items() if name != column.name and other.numeric)
    return not any(
        is_speed(build_metric(other.label or other.name, other.unit)) or not has_integers(other) for other in others
    )


def _mask_failed_numbers(column: Column, is_failure_name: bool, is_success_name: bool) -> Mask | None:
    """Return which codes are failures: others than 0, or 0 among 1; None for numbers that are no codes."""
    values: npt.NDArray[np.float64] = column.values.astype(float)
    present = values[~column.missing]
    if np.any(present != np.round(present)):
        return None  # a spread
    if is_failure_name:
        return np.asarray(~column.missing & (values != 0))
    if set(present) != {0.0, 1.0}:
        return None
    if is_success_name:
        return np.asarray(values == 0)
    rarer = float(2 * present.sum() < present.size)  # 0 is the success of a program, 1 of a question
    return np.asarray(values == rarer) if split_column_name(column.label or column.name) == ["status"] else None


def _mask_failed_words(column: Column) -> Mask | None:
    texts = [str(value).strip(" !.") if value is not None else "ok" for value in column.values]
    failed = np.array([bool(_FAILURE.fullmatch(text)) or text.lower() in _NEGATIONS for text in texts])
    has_others = not all(_SUCCESS.fullmatch(text) for text, fails in zip(texts, failed, strict=True) if not fails)
    return None if has_others else failed


def _is_no_failure(text: str) -> bool:
    return bool(_SUCCESS.fullmatch(text)) and text.lower() not in ("true", "yes", "ja") or text.lower() in _NEGATIONS
