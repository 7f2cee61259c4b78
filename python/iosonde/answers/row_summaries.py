"""Rows that are means: their standard deviation and number of trials say what the trials would have said."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.column_units import split_column_name
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.data.looks import DEVIATIONS, MEAN_ERRORS, find_row_statistics, is_statistic
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, doubtful
from iosonde.stats.estimate.normality import compute_normal_quantiles
from iosonde.stats.estimate.ratio import Moments, moments_from_summary
from iosonde.stats.regression.formula import list_term_columns


@dataclass(frozen=True)
class RowSummaries:
    """The columns with the number of trials of each row, and with their standard deviation or, if ``is_error``, the
    standard error of the mean."""

    count: str
    spread: str
    is_error: bool = False

    def moments(self, rows: Table, column: str) -> tuple[Moments, ...]:
        """Return the moments of the trials of each row."""
        n, sd = rows.numbers(self.count).astype(int), self.compute_sd(rows)
        values = zip(rows.numbers(column).tolist(), sd.tolist(), n.tolist(), strict=True)
        return tuple(moments_from_summary(*each) for each in values)

    def compute_sd(self, rows: Table) -> Array:
        """Return the standard deviation of the trials of each row; 0 for a single one."""
        n = rows.numbers(self.count)
        return np.where(n > 1, rows.numbers(self.spread), 0.0) * (np.sqrt(n) if self.is_error else 1.0)


def find_row_summaries(response: Response, excluded: Sequence[str]) -> RowSummaries | None:
    """Return the columns that describe each mean of a table's response; None if its rows are trials, if a value is
    missing, or if one of these columns is among the ``excluded``."""
    if response.operation or response.measured or not response.rows.has_column(response.title):
        return None
    return _find_column_summaries(response.rows, response.title, excluded)


def _find_column_summaries(rows: Table, title: str, excluded: Sequence[str]) -> RowSummaries | None:
    """Return the columns that describe the means in the column ``title``, as ``find_row_summaries``."""
    measured = np.flatnonzero(~np.isnan(rows.numbers(title)))
    statistics = [name for name in find_row_statistics(list(rows.columns.values())) if name not in excluded]
    own = set(split_column_name(rows.column(title).label))
    every = {name: set(split_column_name(rows.column(name).label)) for name in statistics}
    words = {name: of for name, of in every.items() if is_statistic(rows.column(name), own)}
    counts = [name for name, of in every.items() if name not in words and not of & (DEVIATIONS | MEAN_ERRORS)]
    spreads = [(name, bool(of & MEAN_ERRORS)) for name, of in words.items() if of & (DEVIATIONS | MEAN_ERRORS)]
    if not counts or not spreads or rows.column(title).name in statistics:
        return None
    (spread, is_error), count = min(spreads, key=lambda each: each[1]), counts[0]
    n, sd = rows.numbers(count)[measured], rows.numbers(spread)[measured]
    is_complete = n.size and bool(np.all(n >= 1) and np.all((sd >= 0) | (n == 1)))
    return RowSummaries(count, spread, is_error) if is_complete else None


def represent_trials(source: Source, query: ResponseQuery, columns: Sequence[str] = ()) -> Source:
    """Return a table of means as one whose rows stand for the trials of each: as many, with exactly their mean and
    standard deviation, which is all that an analysis of means and variances uses. Any other source stays as it is:
    trials, a response without both statistics, or statistics that are among the ``columns`` of the question."""
    table = source.table
    statistics = () if source.knows_factors else find_row_statistics(list(table.columns.values()))
    if not statistics:
        return source
    try:
        excluded = list_term_columns((*query.on, *columns), table)
        responses = build_responses(source, replace(query, on=()))
        titles = dict.fromkeys(table.column(response.measured or response.title).name for response in responses)
        summaries = [_find_column_summaries(table, title, excluded) for title in titles]
    except IosondeError:  # the command says why
        return source
    described = [each for each in summaries if each is not None]
    if len(described) < len(summaries) or len({each.count for each in described}) > 1:
        return source
    counts = np.nan_to_num(table.numbers(described[0].count), nan=1).astype(int)
    at = np.concatenate([np.flatnonzero(counts > trial) for trial in range(counts.max())])
    rows, scores = table.take(at), _draw_scores(counts, at)
    means = {
        title: replace(rows.column(title), values=rows.numbers(title) + each.compute_sd(rows) * scores)
        for title, each in zip(titles, described, strict=True)
    }
    remaining = {name: column for name, column in rows.columns.items() if name not in statistics}
    used = tuple(name for each in described for name in (each.spread, each.count))
    return replace(source, table=replace(rows, columns=remaining | means, row_statistics=tuple(dict.fromkeys(used))))


def _draw_scores(counts: Indices, at: Indices) -> Array:
    """Return a number for each trial, which belongs to the row ``at``: normal quantiles of mean 0 and standard
    deviation 1 over the trials of each row, in a random order, as that of the trials is unknown."""
    scores, generator = np.zeros(at.size), np.random.default_rng(0)
    for row in np.flatnonzero(counts > 1):
        quantiles = compute_normal_quantiles((np.arange(counts[row]) + 0.5) / counts[row])
        scores[at == row] = generator.permutation(quantiles / quantiles.std(ddof=1))
    return scores


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
