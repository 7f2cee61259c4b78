"""Rows of a sheet that sum up others: a mean below the trials of a block, or below all."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from iosonde.core.column_roles import TRIALS
from iosonde.core.column_units import split_column_name
from iosonde.core.table import is_number

Rows = Sequence[Sequence[str]]

_SUMMARIES = frozenset(
    [
        "average",
        "avg",
        "mean",
        "median",
        "total",
        "sum",
        "sd",
        "std",
        "stddev",
        "stdev",
        "stderr",
        "sem",
        "mittelwert",
        "summe",
        "gesamt",
        "insgesamt",
        "standardabweichung",
        "stdabw",
        "standardabw",
        "médiane",
        "mediane",
        "mediana",
        "somme",
        "suma",
        "desviación",
        "stabw",
        "mittel",
        "durchschnitt",
        "moyenne",
        "écart",
        "promedio",
        "geomean",
        "gmean",
        "hmean",
        "ø",
        "σ",
    ]
)
_QUALIFIERS = frozenset(
    [
        "standard",
        "deviation",
        "dev",
        "error",
        "err",
        "grand",
        "overall",
        "geometric",
        "harmonic",
        "all",
        "of",
        "the",
        "type",
    ]
)
# A level of its own elsewhere; beside a mean, or among the numbers of trials, it is a statistic.
_COMPANIONS = _QUALIFIERS | frozenset(
    ["min", "max", "minimum", "maximum", "cv", "var", "variance", "p", "ci", "iqr", "rsd", "range", "quantile"]
    + ["percentile", "confidence", "interval", "vk", "spannweite", "konfidenzintervall", "varianz", "rel", "relative"]
    + [
        "abs",
        "abw",
        "abweichung",
        "fehler",
        "coefficient",
        "variation",
        "best",
        "worst",
        "peak",
        "quantil",
        "perzentil",
    ]
    + [
        "th",
        "pct",
        "percent",
        "relativer",
        "erreur",
        "máximo",
        "mínimo",
        "máx",
        "mín",
        "ecart",
        "media",
        "mw",
        "mittelw",
        "durchschn",
        "μ",
    ]
)
# Executions before the trials.
WARM_UPS = frozenset(
    ("warmup", "warm-up", "warm up", "preheat", "aufwärmen", "aufwärmlauf", "vorlauf", "rampup", "ramp-up", "ramp up")
)
_PERCENTILE = re.compile(  # p1, p2 and p3 may be pools
    r"p\d{2}(?:[._]?\d+)?|\d{2}(?:\.\d+)?\s*(?:%|th|st|nd|rd)?\s*(?:ci|percentile|perzentil|quantile?|pct)?"
)
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = {ord("∅"): "ø", ord("⌀"): "ø"}
# Words of statistics that are levels of a factor, too, unless they are rare among its others: a standard, a total.
_AMBIGUOUS = frozenset(("std", "sd", "total", "sum", "suma", "all", "standard"))
_NAMES_OF_STATISTICS = frozenset(("stat", "stats", "statistic", "statistik", "metric", "metrik", "measure", "quantity"))
_LEAST_TRIALS = 3  # in a column without the name of one: 1, 2, 3, max


def count_measured_rows(rows: Rows) -> int:
    """Return the number of rows before those at the end that sum up the others, as spreadsheets have them."""
    heads = [next((cell for cell in row if cell.strip()), "") for row in rows]
    n_rows = next((place for place in range(len(rows), 0, -1) if not _is_summary(heads[place - 1])), len(rows))
    return len(rows) if all(map(is_statistic, heads[:n_rows])) else n_rows  # no row is a trial


def find_summary_rows(rows: Rows, names: Sequence[str]) -> set[int]:
    """Return the places of rows that are no trials but sum up others, or warm up for them: such a word stands where
    the other rows have numbers (``run`` is 1, 2, 3, mean) or levels (``fs`` is ext4, xfs, Median), or begins a row that
    leaves a setting of all others blank. ``rows`` are as wide as the ``names`` of their columns."""
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    numbered = [_find_in_counter(column, name) for column, name in zip(columns, names, strict=True)]
    begun = {place for place, head in enumerate(_list_heads(rows)) if is_statistic(head)}
    settings = [column for column in columns if all(cell or place in begun for place, cell in enumerate(column))]
    numbered += [_find_among_levels(column, name) for column, name in zip(columns, names, strict=True)]
    return set().union(*numbered, (place for place in begun if any(not column[place] for column in settings)))


def find_headed_rows(rows: Rows) -> set[int]:
    """Return the places of rows whose first cell that is not blank is the name of a mean or a spread."""
    return {place for place, head in enumerate(_list_heads(rows)) if _is_summary(head)}


def _list_heads(rows: Rows) -> list[str]:
    return [next((cell.strip() for cell in row if cell.strip()), "") for row in rows]


def _find_in_counter(column: Sequence[str], name: str) -> set[int]:
    statistics = {cell for cell in set(column) if is_statistic(cell) or cell.lower() in WARM_UPS}
    others = {cell for cell in column if cell and cell not in statistics}
    is_counter = len(others) > 1 and all(map(is_number, others))
    is_of_trials = any(map(_is_summary, statistics)) or not set(TRIALS).isdisjoint(split_column_name(name)[-1:])
    if not is_counter or not (is_of_trials or _is_consecutive(others)):
        return set()
    return {place for place, cell in enumerate(column) if cell in statistics}


def _find_among_levels(column: Sequence[str], name: str) -> set[int]:
    """Return the places of statistics among the levels of a factor, which are words."""
    counts = Counter(cell for cell in column if cell)
    statistics = {cell for cell in counts if is_statistic(cell)}
    others = sorted(n for cell, n in counts.items() if cell not in statistics and not is_number(cell))
    n_rows = sum(counts[cell] for cell in statistics)
    is_metric = not _NAMES_OF_STATISTICS.isdisjoint(split_column_name(name))
    if is_metric or not others or 2 * n_rows >= counts.total() or not any(map(_is_summary, statistics)):
        return set()
    is_rare = all(2 * counts[cell] < others[len(others) // 2] for cell in statistics)
    is_sure = any(_is_summary(cell) and _AMBIGUOUS.isdisjoint(_list_words(cell)) for cell in statistics)
    return {place for place, cell in enumerate(column) if cell in statistics} if is_rare or is_sure else set()


def _is_consecutive(numbers: Collection[str]) -> bool:
    """Return whether these are the numbers of trials, unlike 1, 2, 4 beside a level ``max``."""
    ordered = sorted(map(float, numbers))
    return (
        len(ordered) >= _LEAST_TRIALS
        and ordered[0] in (0, 1)
        and ordered == [ordered[0] + at for at in range(len(ordered))]
    )


def is_statistic(cell: str) -> bool:
    """Return whether a cell has only words of statistics: also ``max``, which elsewhere may be a level."""
    words = _list_words(cell)
    return bool(words) and words <= _SUMMARIES | _COMPANIONS


def are_statistics(cells: Collection[str]) -> bool:
    """Return whether several cells are statistics, of which one can be nothing else: min and max may be levels."""
    numbered = [cell for cell in cells if any(map(str.isdigit, cell))]
    is_sure = bool(numbered) or any(map(_is_summary, cells))
    are_percentiles = all(_PERCENTILE.fullmatch(cell.strip().lower()) for cell in numbered)
    return len(cells) > 1 and is_sure and are_percentiles and all(map(is_statistic, cells))


def _is_summary(cell: str) -> bool:
    words = _list_words(cell)
    return bool(words & _SUMMARIES) and words <= _SUMMARIES | _QUALIFIERS and not any(map(str.isdigit, cell))


def _list_words(cell: str) -> set[str]:
    return set() if is_number(cell) else set(_WORD.findall(cell.lower().translate(_SIGNS)))
