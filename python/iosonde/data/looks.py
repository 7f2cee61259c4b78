"""Guess the kind of a table's column: measured, by values, unit or name; or text that holds values.

Only names in the field's vocabulary count: ``bandwidth``, ``write_latency``, ``iops``.
"""

import re
from collections.abc import Collection, Sequence

import numpy as np

from iosonde.core.column_roles import TRIALS as TRIALS
from iosonde.core.column_units import TIME_UNITS, is_rate, split_column_name
from iosonde.core.column_values import has_integers as has_integers
from iosonde.core.column_values import is_consecutive
from iosonde.core.column_values import is_mostly_distinct as is_mostly_distinct
from iosonde.core.table import Column

BLOCK = "block"
METRICS = frozenset(("bandwidth", "bw", "throughput", "tput", "latency", "iops", "duration", "elapsed"))
_MEANS = frozenset(("mean", "avg", "average", "mittelwert", "mittel", "durchschnitt", "moyenne", "media", "promedio"))
DEVIATIONS = frozenset(
    ("sd", "std", "stdev", "stddev", "deviation", "standardabweichung", "stdabw", "abw", "écart", "σ")
)
MEAN_ERRORS = frozenset(("stderr", "sem", "standardfehler"))
_SPREADS = DEVIATIONS | MEAN_ERRORS
_STATISTICS = _MEANS | _SPREADS | {"standard", "min", "max", "median", "cv", "var", "variance"}
_COUNTS = frozenset(
    ("n", "count", "of", "no", "num", "number", "trials", "samples", "reps", "repetitions", "runs", "anzahl", "läufe")
)
_BOUNDS = frozenset(("limit", "cap", "quota", "target", "nominal", "link", "net", "network", "expected"))
# Words that number a part of a trial; singular, as `ranks` is a count.
RANKS = ("rank", "process", "proc", "pid", "worker", "thread", "client", "node", "task")
_VALUE = re.compile(r"\s*[+-]?\d[\d., ]*\s*[A-Za-zµ/%]*\s*")  # 450,9 and 99.8 MB/s, but not 10:30 or 2026-01-01


def is_surely_measured(column: Column) -> bool:
    """Return whether numbers with hardly any duplicates have the name of a metric, the unit of a rate or time, or
    decimals and no unit. Sizes and counts are settings even if each row has another one."""
    if not column.numeric or column.missing.all() or not is_mostly_distinct(column):
        return False
    return is_metric(column) or not (column.unit or has_integers(column))


def is_metric(column: Column) -> bool:
    """Return whether the name is that of a metric, or the unit that of a rate or time."""
    return has_metric_name(column) or has_metric_unit(column)


def has_metric_unit(column: Column) -> bool:
    """Return whether the unit is that of a rate or time."""
    return is_rate(column.unit) or column.unit in TIME_UNITS


def has_metric_name(column: Column) -> bool:
    """Return whether the name is that of a metric: ``write_bandwidth``, but not ``bandwidth_limit``."""
    words = set(split_column_name(column.label))
    return bool(words & METRICS) and not words & _BOUNDS


def has_values_as_text(column: Column) -> bool:
    """Return whether at least half of the cells of a text column are numbers, alone or with a unit: values that cannot
    be computed with."""
    present = [] if column.numeric else [str(value) for value in column.values if value is not None]
    return bool(present) and 2 * sum(bool(_VALUE.fullmatch(value)) for value in present) >= len(present)


def is_rank_number(column: Column) -> bool:
    """Return whether a column numbers the ranks of a trial: consecutive whole numbers starting at 0 or 1."""
    word = get_last_word(column)
    if word not in RANKS or not column.numeric:
        return False
    numbers = np.unique(column.values[~column.missing].astype(float))
    counts = is_consecutive(numbers) and numbers[0] in (0, 1)
    return counts and (word == RANKS[0] or numbers[0] == 0)


def get_last_word(column: Column) -> str:
    """Return the last word of a column's name in lower case; '' for a column with a unit."""
    words = [] if column.unit else split_column_name(column.label)
    return words[-1] if words else ""


def find_row_statistics(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns that qualify the mean in each row of a table of means: spreads, and numbers of trials. Empty
    without a mean and a spread."""
    words = {column.name: set(split_column_name(column.label)) for column in columns if column.numeric}
    means = [name for name, own in words.items() if own & _MEANS]
    if not means or not any(own & _SPREADS for own in words.values()):
        return ()
    of = set().union(*(words[name] for name in means))
    others = [column for column in columns if column.name in words and column.name not in means]
    return tuple(column.name for column in others if is_statistic(column, of) or _is_trial_count(column))


def is_statistic(column: Column, of: Collection[str]) -> bool:
    """Return whether a column is named as a statistic, alone or of a metric with the words ``of``."""
    words = set(split_column_name(column.label))
    return bool(words & _STATISTICS) and words - _STATISTICS <= set(of)


def _is_trial_count(column: Column) -> bool:
    """Return whether it counts the trials of each row: from 2 on, as one has no spread."""
    present = column.values[~column.missing].astype(float)
    return set(split_column_name(column.label)) <= _COUNTS and has_integers(column) and bool(np.all(present > 1))
