"""Rows that are means: their standard deviation and number of trials say what the trials would have said."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.column_units import split_column_name
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.data.looks import find_row_statistics, is_statistic
from iosonde.data.response import Response
from iosonde.stats.assumptions import AssumptionCheck, doubtful
from iosonde.stats.estimate.ratio import Moments, moments_from_summary

_SPREADS = frozenset(("sd", "std", "stdev", "stddev", "deviation"))
_ERRORS = frozenset(("stderr", "sem"))


@dataclass(frozen=True)
class RowSummaries:
    """The columns with the number of trials of each row, and with their standard deviation or, if ``is_error``, the
    standard error of the mean."""

    count: str
    spread: str
    is_error: bool = False

    def moments(self, rows: Table, column: str) -> tuple[Moments, ...]:
        """Return the moments of the trials of each row."""
        n = rows.numbers(self.count)
        sd = np.where(n > 1, rows.numbers(self.spread), 0.0) * (np.sqrt(n) if self.is_error else 1.0)
        values = zip(rows.numbers(column).tolist(), sd.tolist(), n.astype(int).tolist(), strict=True)
        return tuple(moments_from_summary(*each) for each in values)


def find_row_summaries(response: Response, excluded: Sequence[str]) -> RowSummaries | None:
    """Return the columns that describe each mean of a table's response; None if its rows are trials, if a value is
    missing, or if one of these columns is among the ``excluded``."""
    rows, measured = response.rows, np.flatnonzero(~np.isnan(response.values))
    if response.operation or response.measured or not rows.has_column(response.title):
        return None
    statistics = [name for name in find_row_statistics(list(rows.columns.values())) if name not in excluded]
    own = set(split_column_name(rows.column(response.title).label))
    counts = [name for name in statistics if not is_statistic(rows.column(name), own)]
    words = {name: set(split_column_name(rows.column(name).label)) for name in statistics if name not in counts}
    spreads = [(name, bool(of & _ERRORS)) for name, of in words.items() if of & (_SPREADS | _ERRORS)]
    if not counts or not spreads or response.title in statistics:
        return None
    (spread, is_error), count = min(spreads, key=lambda each: each[1]), counts[0]
    n, sd = rows.numbers(count)[measured], rows.numbers(spread)[measured]
    is_complete = n.size and bool(np.all(n >= 1) and np.all((sd >= 0) | (n == 1)))
    return RowSummaries(count, spread, is_error) if is_complete else None


def list_mean_remarks(
    response: Response, summaries: RowSummaries | None
) -> tuple[tuple[Message, AssumptionCheck | None], ...]:
    """Return the remark on rows that are means, and on what n counts; with a doubt if each counts as one trial."""
    if summaries is not None:
        template = "each row is a mean: {spread} and {count} stand for its trials, and n counts these"
        return ((Message("rows-are-means", template, spread=summaries.spread, count=summaries.count), None),)
    statistics = () if response.operation else find_row_statistics(list(response.rows.columns.values()))
    if not statistics:
        return ()
    template = "each row is a mean and counts as one trial: {statistics} are not used"
    text = Message("rows-are-means", template, statistics=", ".join(statistics))
    return ((text, doubtful("few-trials", text)),)
