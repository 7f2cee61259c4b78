"""Columns of a table that a comparison holds besides its settings: numbers as straight lines, and days as blocks."""

from collections.abc import Sequence

from iosonde.core.column_roles import ColumnRole
from iosonde.core.message import Message
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Table
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names
from iosonde.data.looks import is_mostly_distinct
from iosonde.data.roles import guess_roles_of_rows
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, fails
from iosonde.stats.estimate.compare import COVARIANCE
from iosonde.stats.regression.formula import list_term_columns

_ROLES = (str(ColumnRole.COVARIATE), str(ColumnRole.BLOCK))


def list_lines(rows: Table, names: Sequence[str], sides: str) -> tuple[str, ...]:
    """Return those of the columns ``names`` that are numbers without cells of both sides, and so held as lines."""
    return tuple(
        name
        for name in names
        if rows.columns[name].numeric
        and rows.columns[name].is_varying
        and is_mostly_distinct(rows.columns[name])
        and not is_mostly_shared(rows, name, sides)
    )


def list_stated_covariates(rows: Table) -> tuple[str, ...]:
    """Return the columns to which the user or a file gave a role whose effect is taken out of comparisons."""
    return tuple(name for name, column in rows.columns.items() if str(column.role) in _ROLES)


def choose_stated_block(source: Source, terms: Sequence[str]) -> str | None:
    """Return the only column of a table that the user or the file calls a block, as days, if no term has it; None of a
    store, whose experiment declares its own."""
    columns = source.table.columns.values()
    blocks = [column.name for column in columns if str(column.role) == str(ColumnRole.BLOCK) and column.is_varying]
    used = set(list_term_columns(terms, source.table))
    return None if source.knows_factors or len(blocks) != 1 or used.intersection(blocks) else blocks[0]


def list_crossed_blocks(rows: Table, measured: Sequence[str], sides: str, settings: Sequence[str]) -> tuple[str, ...]:
    """Return the days and blocks most of whose rows have a partner of another side in the same day or block. Single
    trials of each side are pairs, which are no cells: for a day over all, for a block, which often numbers the
    repetitions, at each of the ``settings``."""
    roles = guess_roles_of_rows(rows, measured)
    dates = [name for name in roles.select(ColumnRole.ORDER) if not rows.columns[name].numeric]
    blocks = [name for name in roles.select(ColumnRole.BLOCK) if name not in BRING_UPS]
    cells = [(name, [name, sides]) for name in dates] + [(name, [name, sides, *settings]) for name in blocks]
    return tuple(
        name
        for name, columns in cells
        if name not in (*roles.stated, sides)
        and is_mostly_shared(rows, name, sides)
        and len(rows.groups(columns)) < len(rows)
    )


def is_mostly_shared(rows: Table, name: str, sides: str) -> bool:
    """Return whether at least half of the rows have a value of the column that occurs on several sides."""
    levels = rows.column(sides).codes()[0]
    return 2 * sum(at.size for _, at in rows.groups([name]) if len(set(levels[at].tolist())) > 1) >= len(rows)


def describe_lines(lines: Sequence[str], method: str, group: str) -> tuple[Message, AssumptionCheck | None]:
    """Return the remark on the numbers that the ``method`` of a comparison holds, or the failure if it cannot."""
    names = join_names(list(lines))
    if method == COVARIANCE:
        template = "{columns} {verb} held as a straight line: the means are those at the mean of {columns}"
        return Message("held-as-line", template, columns=names, verb="is" if len(lines) == 1 else "are"), None
    template = "{columns} cannot be held: too few trials are left, or {group} cannot be separated from it"
    text = Message("confounded", template, columns=names, group=group)
    return text, fails("goes-together", VerdictState.NOT_SEPARABLE, text, cause=names)
