"""Guess which columns of a table were measured, which were set, and which only number the rows.

The guess from the values is always reported, and the user can override it (``--response``, ``--by``). Only names in the
field's vocabulary count: a unit (``time (s)``), or a word that numbers trials (``run``, ``iteration``).
"""

from collections.abc import Sequence

from iosonde.core.column_roles import REMARK_NAMES, SET_ROLES, ColumnRole, Roles, list_commits_of_nights
from iosonde.core.column_units import split_column_name
from iosonde.core.column_values import is_consecutive
from iosonde.core.computed_columns import find_computed_settings
from iosonde.core.errors import DataError, InputError
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Column, Table, is_number
from iosonde.tables.dates import are_moments
from iosonde.tables.loads import guess_load_roles

from .cells_with_units import check_unit, is_measured_text
from .looks import (
    BLOCK,
    TRIALS,
    find_row_statistics,
    get_last_word,
    has_integers,
    has_metric_name,
    has_metric_unit,
    has_values_as_text,
    is_metric,
    is_mostly_distinct,
    is_rank_number,
    is_surely_measured,
)
from .outcomes import find_outcomes

_NUMBERING = {*TRIALS, BLOCK, "sample", "index", "idx", "id", "seq", "order", "seed", "number"}
_QUANTITIES = frozenset(("size", "length", "width", "time", "rate", "count", "bytes", "bandwidth", "throughput"))
# Words for the scale of an experiment, which is set.
_SCALES = ("clients", "nodes", "files", "threads", "procs", "processes", "ranks", "jobs", "servers", "tasks", "disks")
_HOSTS = ("host", "hostname")
_SENTENCE = 5  # words
_VARIED = (ColumnRole.SETTING, ColumnRole.BLOCK, ColumnRole.COVARIATE)
_UNUSED = (None, ColumnRole.FACT)


def guess_roles(
    table: Table, responses: Sequence[str] = (), by: Sequence[str] | None = None, is_measured: bool = True
) -> Roles:
    """Guess the roles of all columns; columns with a stated role, or named by the user, keep theirs. ``is_measured``:
    there must be a response.

    Raises InputError if no column looks measured, DataError if one would except for a cell that is not a number.
    """
    response_names = [table.column(name).name for name in responses]
    setting_names = [table.column(name).name for name in by or ()]
    rest = [c for c in table.columns.values() if c.name not in (*response_names, *setting_names)]
    roles = {c.name: ColumnRole(c.role) for c in rest if c.role}
    if response_names:  # the question is more exact than the stated role
        roles |= {name: ColumnRole.OUTCOME for name, role in roles.items() if role is ColumnRole.RESPONSE}
    measured = response_names or [name for name, role in roles.items() if role is ColumnRole.RESPONSE]
    statistics = find_row_statistics([c for c in table.columns.values() if c.name not in setting_names])
    roles = {name: ColumnRole.FACT for name in statistics if name not in response_names} | roles
    roles |= {c.name: role for c in rest if c.name not in roles and (role := _guess_counter(c)) is not None}
    roles |= dict.fromkeys(list_commits_of_nights(rest, roles), ColumnRole.FACT)
    remaining = [c for c in rest if c.name not in roles]
    roles |= guess_load_roles(remaining, bool(measured), lambda c: is_metric(c) or is_surely_measured(c))
    remaining = [c for c in remaining if c.name not in roles]
    for column in remaining:
        # Without this check another column, such as the number of clients, would be taken as measured.
        is_unreadable = not measured and has_values_as_text(column) and is_measured_text(column, remaining)
        if is_unreadable or _is_spoilt(column):
            check_unit(table, column)
            table.numbers(column.name)  # raises, with the place
    free = _find_free_numbers(remaining, measured) if by is None else []  # else the question names the factors
    candidates = [column for column in remaining if column not in free]
    if not measured and is_measured:
        measured = _guess_measured(table, candidates)
        _check_others_are_readable(table, [c for c in rest if roles.get(c.name) in _UNUSED], measured)
    # If a response was named, other measured columns are not settings.
    others = [c.name for c in remaining if c.name not in measured and (is_surely_measured(c) and c not in free)]
    counters = [name for name, role in roles.items() if role in (ColumnRole.REPETITION, ColumnRole.ORDER)]
    others += find_outcomes(table, [c for c in remaining if c.name not in (*measured, *others)], counters)
    roles |= {c.name: ColumnRole.SETTING if c.is_varying else ColumnRole.CONSTANT for c in remaining}
    roles |= dict.fromkeys(others, ColumnRole.OUTCOME)
    settings = [c for c in remaining if c.name not in measured and roles[c.name] is ColumnRole.SETTING]
    if ColumnRole.REPETITION not in roles.values():  # else the hosts may be parts of a trial
        roles |= dict.fromkeys(_find_crossed_hosts(table, settings), ColumnRole.FACT)
    every = [name for name in table.columns if name not in measured]
    computed = find_computed_settings(
        table,
        [name for name in every if roles.get(name, ColumnRole.SETTING) in _VARIED],
        required=set(every) - {c.name for c in remaining},
    )
    roles |= dict.fromkeys(computed, ColumnRole.FACT)
    if by is not None:  # the question names the factors
        roles |= {name: ColumnRole.COVARIATE for name, role in roles.items() if role in SET_ROLES}
    stated = dict.fromkeys(setting_names, ColumnRole.SETTING) | dict.fromkeys(measured, ColumnRole.RESPONSE)
    ordered = stated | {name: roles[name] for name in table.columns if name not in stated}
    return Roles(ordered, frozenset(c.name for c in table.columns.values() if c.role), computed)


def guess_roles_of_rows(table: Table, responses: Sequence[str]) -> Roles:
    """Return ``guess_roles``, or no roles if a column that is not used has a cell that is not a number. Raises
    InputError."""
    try:
        return guess_roles(table, responses)
    except DataError:
        return Roles({})


def _find_crossed_hosts(table: Table, settings: Sequence[Column]) -> list[str]:
    """Return columns of host names, all of which occur in each setting of the other columns."""
    hosts = [column for column in settings if get_last_word(column) in _HOSTS and not column.numeric]
    others = [column.name for column in settings if column not in hosts]
    n_cells = len(table.groups(others))
    crossed = [host for host in hosts if len(table.groups([*others, host.name])) == n_cells * len(host.levels)]
    return [host.name for host in crossed if others]


def _guess_counter(column: Column) -> ColumnRole | None:
    """Return the role of a column that counts, dates or remarks on rows; None for one that was set or measured."""
    if not _is_row_number(column):
        return ColumnRole.FACT if _is_remark(column) else None
    if is_rank_number(column):
        return ColumnRole.PART
    word = get_last_word(column)
    if column.name in BRING_UPS or word == BLOCK:
        return ColumnRole.BLOCK
    return ColumnRole.REPETITION if word in TRIALS else ColumnRole.ORDER


def _find_free_numbers(columns: Sequence[Column], measured: Sequence[str]) -> list[Column]:
    """Return the numbers that vary freely beside a rate or time: the factors of a table without any other column."""
    varying = [column for column in columns if column.is_varying]
    free = [column for column in varying if is_surely_measured(column) and not is_metric(column)]
    others = [column for column in varying if column not in free]
    return free if (others or measured) and all(map(is_surely_measured, others)) else []


def _guess_measured(table: Table, columns: Sequence[Column]) -> list[str]:
    """Return numbers with hardly any duplicates; else those with the name of a metric, or the unit of a rate or time;
    else the only one with decimals, or with by far the most distinct values."""
    numeric = [column for column in columns if column.numeric and not column.missing.all()]
    distinct = [column for column in numeric if is_mostly_distinct(column)]
    for candidates in (
        [column for column in numeric if is_surely_measured(column)],
        [column for column in numeric if has_metric_name(column)],
        distinct,
        [column for column in numeric if has_metric_unit(column)],
    ):
        if candidates:
            return [column.name for column in candidates]
    broken = [column for column in numeric if not has_integers(column)]
    by_levels = sorted(numeric, key=lambda column: len(column.levels), reverse=True)
    if len(broken) == 1 or len(numeric) == 1:
        return [(broken or numeric)[0].name]
    if by_levels and len(by_levels[0].levels) >= 2 * len(by_levels[1].levels):
        return [by_levels[0].name]
    raise InputError(
        "undetermined-response",
        "{table}: cannot determine which column was measured",
        "name it with {spell.response}: {columns}",
        table=table.source or "the table",
        columns=", ".join(table.names),
    )


def _check_others_are_readable(table: Table, candidates: Sequence[Column], measured: Sequence[str]) -> None:
    """Check that no setting was taken as measured because the values are texts: its numbers repeat, and a column of
    texts with numbers has the name of a metric or hardly any duplicates. Raises InputError."""
    for column in map(table.column, measured):
        if is_metric(column) or (is_mostly_distinct(column) and get_last_word(column) not in _SCALES):
            return
    for column in candidates:
        is_level = column.level_unit and not is_metric(column)
        texts = [] if column.numeric or is_level else [str(v) for v in column.values if v is not None]
        texts.sort(key=is_number)  # the example is none
        has_numbers = 2 * sum(any(map(str.isdigit, text)) for text in texts) > len(texts)
        if has_numbers and (is_metric(column) or is_mostly_distinct(column)):
            raise InputError(
                "unreadable-values",
                "{table}: column '{column}' may be what was measured, but its values, such as '{cell}', are no numbers",
                "write them as numbers, or name what was measured with {spell.response}: {columns}",
                table=table.source or "the table",
                column=column.name,
                cell=texts[0][:40],
                columns=", ".join(table.names),
            )


def _is_spoilt(column: Column) -> bool:
    """Return whether a column is text only because of cells such as nan or inf, or a few others among numbers with
    hardly any duplicates."""
    present = [] if column.numeric else [value for value in column.values if value is not None]
    odd = [value for value in present if not is_number(value)]
    no_numbers = all(str(value).lower().lstrip("+-") in ("nan", "inf", "infinity") for value in odd)
    is_mostly_numbers = 0 < 2 * len(odd) <= len(present)
    return is_mostly_numbers and (no_numbers or is_mostly_distinct(column))


def _is_row_number(column: Column) -> bool:
    """Return whether it is a date, an integer that increases by one per row, or a whole number with the name of a
    counter."""
    present = column.values[~column.missing]
    if present.size < 2:
        return False
    if not column.numeric:
        return are_moments([str(value) for value in present[:20]], is_mostly_distinct(column))
    counts = has_integers(column) and (_is_counter_name(column) or is_consecutive(present.astype(float)))
    return counts or column.name in BRING_UPS or is_rank_number(column)


def _is_counter_name(column: Column) -> bool:
    """Return whether the name is that of a counter: ``run``, ``trial_id``, ``run_in_group``; not ``block size``, ``run
    time`` or ``number of nodes``."""
    words = split_column_name(column.label)
    if not words or column.unit or _QUANTITIES & set(words):
        return False
    return words[-1] in _NUMBERING or (words[0] in _NUMBERING - {"number"} and "of" not in words)


def _is_remark(column: Column) -> bool:
    """Return whether it holds sentences, or text in only some rows: comments by its name, or with hardly any
    duplicates."""
    missing = column.missing
    if column.numeric or missing.all():
        return bool(missing.all())
    present = column.values[~missing]
    has_sentences = sum(len(str(text).split()) for text in present) >= _SENTENCE * present.size
    return has_sentences or (
        bool(missing.any()) and (get_last_word(column) in REMARK_NAMES or 2 * len(set(present)) > present.size)
    )
