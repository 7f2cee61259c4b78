"""Columns of text whose cells are numbers in another form: ``1,007.3``, ``97.6 ± 2.9``, ``58.4k``, ``0:01.5``, or a
failed trial.

Whatever is converted is a warning of the table. A column in which another cell is no such number stays text.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from iosonde.core.column_roles import TRIALS
from iosonde.core.column_units import split_column_name
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table, is_number

from .decorated_numbers import drop_bounds, strip_marks
from .failed_rows import mentions_failure
from .loads import convert_percentages
from .raw_rows import convert_decimal_commas, parse_values

_BEGINS_NUMBER = re.compile(r"[+-]?\d")
_NUMBER = r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?"
_SPREAD = re.compile(rf"({_NUMBER})\s*(?:±|\+/-|\+-)\s*{_NUMBER}(\s*[^\d\s,.;]*)")
_GROUPED = re.compile(r"([+-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?)(\s*[^\d\s,.;]*)")
_SURELY_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)|[+-]?\d{1,3}(?:,\d{3}){2,}")
_DOTTED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})*")
_PREFIXED = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([kKMGT]?)")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})(?:[.,](\d+))?")
# Names of durations; under others, hours and minutes may be a time of day.
_DURATIONS = frozenset(
    ["elapsed", "duration", "runtime", "real", "wall", "walltime", "wallclock", "took", "laufzeit", "dauer"]
)
_SEPARATORS = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f ](?=\d{3}(?!\d))")
_SEPARATED = re.compile(r"([+-]?\d{1,3}(?:['’\u00a0\u2009\u202f ]\d{3})*(?:[.,]\d+)?)(\s*[^\d\s,.;]*)")
_APPROXIMATE = re.compile(rf"(?:[~≈]|(?:ca|circa|approx|etwa|env)\b\.?)?\s*({_NUMBER}\s*[^\d\s,.;]*)")
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*[-–—]\s*(\d+(?:\.\d+)?)(\s*[^\W\d][^\d\s]*)?")
_LIKELY_COMMA = re.compile(r"[+-]?(?!0,)\d{1,3},\d{3}")
_LIKELY_RANGE = 2.0  # times the largest, and below the smallest, of the other numbers
_TRIAL = re.compile(r"(\D*)(\d+)(\D*)")
_DIGITS = str.maketrans("−０１２３４５６７８９．", "-0123456789.")
_FORTRAN = re.compile(r"^([+-]?\d+\.?\d*)[dD]([+-]?\d{1,3})$")
_INFINITE = ("inf", "infinity", "∞")
_POWERS = {"": "", "k": "e3", "K": "e3", "M": "e6", "G": "e9", "T": "e12"}
_OPERATION_WORDS = frozenset(("iops", "ops", "requests", "transactions", "tps", "qps"))
_BYTE_RATE_WORDS = frozenset(("bandwidth", "bw", "throughput", "tput", "bandbreite", "durchsatz"))
_RATE_WORDS = _OPERATION_WORDS | _BYTE_RATE_WORDS | {"rate", "rates", "speed"}
_BOUND_WORDS = frozenset(("net", "network", "link", "nic", "limit", "cap", "quota", "nominal"))
_UNPREFIXED = ("", "iops", "op/s", "ops/s", "req/s", "requests/s", "b/s", "bytes/s", "bit/s", "bits/s")
_ERROR_CELL = re.compile(r"#(?:[A-ZÄÖÜÉÍ/0-9]+[!?]?|#+)")  # of a spreadsheet, in any language: #DIV/0!, #NV, ####
_MISSING_MARKS = frozenset(
    (
        "–",
        "—",
        "--",
        "---",
        "?",
        "k.a.",
        "k. a.",
        "n.v.",
        "n. v.",
        "n.a.",
        "n. a.",
        "n.d.",
        "tbd",
        "nan",
        "-nan",
        "+nan",
    )
)


def convert_number_texts(table: Table) -> Table:
    """Return the table with such columns as numbers, or as numbers with units, each with a warning."""
    table = _normalize_digits(table)
    table = drop_bounds(_clear_failures(_clear_missing(strip_marks(table))))
    table = _convert_durations(_drop_spreads(_average_ranges(_drop_separators(_drop_dots(table)))))
    table = _convert_likely_commas(convert_decimal_commas(_convert_grouped(table)))
    return convert_percentages(_convert_prefixed(_convert_trial_numbers(table)))


def _normalize_digits(table: Table) -> Table:
    """Write minus signs, wide digits and exponents of Fortran (``1.5D+08``) as other programs do, in columns that are
    numbers then."""
    for column in _list_texts(table):
        texts = {cell: _FORTRAN.sub(r"\1E\2", cell.translate(_DIGITS)) for cell in column.counts}
        if any(cell != text for cell, text in texts.items()) and all(map(is_number, texts.values())):
            message = Message("digits", "the numbers in {column} are written in another way", column=column.name)
            table = _replace_cells(table, [column], texts, message)
    return table


def _clear_missing(table: Table) -> Table:
    """Leave errors of a spreadsheet (``#DIV/0!``) empty, and marks of missing numbers (``–``) where at least half of
    the column begin with a digit; with one warning for all."""
    cells = [(column, _find_missing(column)) for column in _list_texts(table)]
    cleared = {column.name: marks for column, marks in cells if marks}
    if not cleared:
        return table
    marks = Counter(str(value) for name, own in cleared.items() for value in table.columns[name].values if value in own)
    message = Message(
        "missing-cells",
        "{n} cells of {columns} hold no value ({marks}): they are missing",
        n=marks.total(),
        columns=", ".join(cleared),
        marks=", ".join(marks),
    )
    columns = [table.columns[name] for name in cleared]
    return _replace_cells(table, columns, dict.fromkeys(marks, ""), message)


def _find_missing(column: Column) -> set[str]:
    words = column.counts
    n_numbers = sum(n for word, n in words.items() if _BEGINS_NUMBER.match(word))
    is_number = 2 * n_numbers >= words.total()
    return {word for word in words if _ERROR_CELL.fullmatch(word) or (is_number and word.lower() in _MISSING_MARKS)}


def _clear_failures(table: Table) -> Table:
    """Leave cells such as ``timeout`` empty, where at least half of the column begin with a digit and none is other
    text."""
    for column in _list_texts(table):
        words = column.counts
        failures = {word: n for word, n in words.items() if mentions_failure(word)}
        n_failed = sum(failures.values())
        numbers = [word for word in words if word not in failures and word.lower().lstrip("+-") not in _INFINITE]
        if failures and all(map(_BEGINS_NUMBER.match, numbers)) and 2 * n_failed <= words.total():
            message = Message(
                "failed-trials",
                "{n} of {n_rows} trials have no {column} ({failures}): they count as failed, and are left out",
                n=n_failed,
                n_rows=words.total(),
                column=column.name,
                failures=", ".join(failures),
            )
            table = _replace_cells(table, [column], dict.fromkeys(failures, ""), message)
    return table


def _drop_separators(table: Table) -> Table:
    """Drop blanks and apostrophes that separate thousands (``1'036.7``, ``1 036,7``), and marks of rounded numbers
    (``~95``)."""
    for column in _list_texts(table):
        matches = _match_all(_SEPARATED, column)
        if any(_SEPARATORS.search(cell) for cell in matches):
            template = "the blanks and apostrophes in {column} separate thousands"
            texts = {cell: _SEPARATORS.sub("", match[1]) + match[2] for cell, match in matches.items()}
            table = _replace_cells(table, [column], texts, Message("separated-digits", template, column=column.name))
        elif matches := _match_all(_APPROXIMATE, column):
            marked = [cell for cell, match in matches.items() if match[1] != cell]
            if marked and (2 * len(marked) < len(matches) or _is_speed(column)):
                template = "marks of rounded numbers in {column} ({cell}) are left out"
                message = Message("rounded-numbers", template, column=column.name, cell=marked[0])
                table = _replace_cells(table, [column], {cell: match[1] for cell, match in matches.items()}, message)
    return table


def _average_ranges(table: Table) -> Table:
    """Replace ranges (``98–101``) in a column that is named as a rate or a time by their middle."""
    for column in _list_texts(table):
        cells = column.counts
        ranges = {
            cell: match for cell in cells if (match := _RANGE.fullmatch(cell)) and float(match[1]) <= float(match[2])
        }
        if ranges and _is_speed(column) and all(cell in ranges or is_number(cell) for cell in cells):
            template = "the ranges in {column} ({cell}) stand for their middle, whose spread is unknown"
            message = Message("ranges-in-cells", template, column=column.name, cell=next(iter(ranges)))
            texts = {cell: f"{(float(m[1]) + float(m[2])) / 2:.10g}{m[3] or ''}" for cell, m in ranges.items()}
            table = _replace_cells(table, [column], texts, message)
    return table


def _is_speed(column: Column) -> bool:
    return is_speed(build_metric(column.label or column.name, column.unit))


def _drop_dots(table: Table) -> Table:
    """Drop the dots of thousands (``1.009.100``), where a cell has two of them."""
    for column in _list_texts(table):
        matches = _match_all(_DOTTED, column)
        if any(cell.count(".") > 1 for cell in matches):
            message = Message("grouped-digits", "the dots in {columns} separate thousands", columns=column.name)
            table = _replace_cells(table, [column], {cell: cell.replace(".", "") for cell in matches}, message)
    return table


def _drop_spreads(table: Table) -> Table:
    for column in _list_texts(table):
        matches = _match_all(_SPREAD, column)
        if matches:
            cell = next(iter(matches))
            template = (
                "the spreads in {column} ({cell}) are not used, because their kind and number of trials are unknown"
            )
            message = Message("spreads-in-cells", template, column=column.name, cell=cell)
            table = _replace_cells(table, [column], {cell: m[1] + m[2] for cell, m in matches.items()}, message)
    return table


def _convert_grouped(table: Table) -> Table:
    """Drop the commas of thousands, if a cell shows by its decimal point, or by two commas, that they are such, or if
    all cells are numbers of operations with three digits after the comma."""
    matches = {column.name: _match_all(_GROUPED, column) for column in _list_texts(table)}
    grouped = {name: cells for name, cells in matches.items() if any("," in cell for cell in cells)}
    sure = [
        name
        for name, cells in grouped.items()
        if any(_SURELY_GROUPED.fullmatch(match[1]) for match in cells.values())
        or (
            all("," in cell for cell in cells)
            and _OPERATION_WORDS.intersection(split_column_name(table.columns[name].label))
        )
    ]
    if not sure:
        return table
    columns = [table.columns[name] for name in grouped]
    template = "the commas in {columns} separate thousands"
    message = Message("grouped-digits", template, columns=", ".join(grouped))
    texts = {cell: m[1].replace(",", "") + m[2] for cells in grouped.values() for cell, m in cells.items()}
    return _replace_cells(table, columns, texts, message)


def _convert_durations(table: Table) -> Table:
    """Convert ``0:01.250`` (minutes and seconds), and ``1:02:03`` in a column named as a duration, to seconds."""
    for column in _list_texts(table):
        matches = _match_all(_CLOCK, column)
        has_duration_name = bool(_DURATIONS.intersection(split_column_name(column.label)))
        has_fractions = all(match[4] and not match[1] for match in matches.values())
        texts = {cell: _format_seconds(match) for cell, match in matches.items()}
        seconds = [float(texts[str(value)]) for value in column.values if value is not None and texts]
        # Times of day go on from row to row.
        is_unordered = seconds != sorted(seconds) and all(match[4] for match in matches.values())
        if matches and column.unit in ("", "s") and (has_duration_name or has_fractions or is_unordered):
            cell, duration = next(iter(texts.items()))
            template = "the cells of {column} are read as durations: {cell} is {seconds} s"
            message = Message("clock-durations", template, column=column.name, cell=cell, seconds=duration)
            table = _replace_cells(table, [replace(column, unit="s")], texts, message)
    return table


def _format_seconds(match: re.Match[str]) -> str:
    hours, minutes, seconds, fraction = match.groups()
    return f"{3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)}.{fraction or 0}"


def _convert_likely_commas(table: Table) -> Table:
    """Convert ``1,225`` among numbers without a comma, if only one of 1225 and 1.225 is of their magnitude."""
    for column in _list_texts(table):
        cells = set(column.counts)
        doubtful = sorted(filter(_LIKELY_COMMA.fullmatch, cells))
        others = [abs(float(cell)) for cell in cells.difference(doubtful) if is_number(cell)]
        if not doubtful or len(others) < 2 or len(others) + len(doubtful) < len(cells):
            continue
        readings = [{cell: cell.replace(",", mark) for cell in doubtful} for mark in ("", ".")]
        likely = [texts for texts in readings if all(_is_alike(float(text), others) for text in texts.values())]
        if len(likely) == 1:
            template = "in {column}, {cell} is read as {number}, which is of the magnitude of the others"
            words = {"column": column.name, "cell": doubtful[0], "number": likely[0][doubtful[0]]}
            table = _replace_cells(table, [column], likely[0], Message("likely-comma", template, **words))
    return table


def _is_alike(number: float, others: list[float]) -> bool:
    return min(others) / _LIKELY_RANGE <= abs(number) <= max(others) * _LIKELY_RANGE


def _convert_prefixed(table: Table) -> Table:
    """Convert ``58.4k`` in columns that are named as rates; elsewhere it may be a size."""
    for column in _list_texts(table):
        matches = _match_all(_PREFIXED, column)
        words = set(split_column_name(column.label))
        if matches and column.unit.lower() in _UNPREFIXED and _RATE_WORDS & words and not _BOUND_WORDS & words:
            texts = {cell: m[1] + _POWERS[m[2]] for cell, m in matches.items()}
            unit = column.unit or ("B/s" if _BYTE_RATE_WORDS & words and not _OPERATION_WORDS & words else "")
            template = "in {column}, k is 1000, M a million and G a billion" + (" {unit}" if unit else "")
            message = Message("decimal-prefixes", template, column=column.name, unit=unit)
            table = _replace_cells(table, [replace(column, unit=unit)], texts, message)
    return table


def _convert_trial_numbers(table: Table) -> Table:
    """Convert ``(1)``, ``#1`` or ``run 1`` in columns that are named as trials, if only the numbers differ."""
    for column in _list_texts(table):
        matches = _match_all(_TRIAL, column)
        stems = {(match[1], match[3]) for match in matches.values()}
        if len(stems) == 1 and len(matches) > 1 and set(TRIALS).intersection(split_column_name(column.label)[-1:]):
            template = "the cells of {column} ({cell}) are read as numbers of trials"
            message = Message("trial-numbers", template, column=column.name, cell=next(iter(matches)))
            table = _replace_cells(table, [column], {cell: match[2] for cell, match in matches.items()}, message)
    return table


def _list_texts(table: Table) -> list[Column]:
    return [column for column in table.columns.values() if not column.numeric and not column.missing.all()]


def _match_all(pattern: re.Pattern[str], column: Column) -> dict[str, re.Match[str]]:
    """Return the match of each cell; none if one does not match."""
    cells = column.counts
    matches = {cell: match for cell in sorted(cells) if (match := pattern.fullmatch(cell))}
    return matches if len(matches) == len(cells) else {}


def _replace_cells(table: Table, columns: list[Column], texts: Mapping[str, str], message: Message) -> Table:
    converted = {
        column.name: replace(
            column,
            values=parse_values(
                ["" if value is None else texts.get(str(value), str(value)) for value in column.values]
            ),
        )
        for column in columns
    }
    return replace(table, columns={**table.columns, **converted}, warnings=(*table.warnings, message))
