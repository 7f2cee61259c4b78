"""Find columns that vary besides the requested factors, which a command has to hold constant or to name.

For a table they are columns that look set, for a store its factors. All commands use this function.
"""

from collections.abc import Sequence

from iosonde.core.column_roles import ColumnRole
from iosonde.core.errors import InputError
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.schema import BRING_UPS, READ_FACTORS
from iosonde.core.table import Column, Table

from . import derived, roles
from .looks import is_mostly_distinct, is_rank_number
from .responses import Response
from .source import Source

_SIZES = {"nodes", "ranks", "ranks_per_node"}  # if one always changes with another, they are one size of a run
# In an exported store: they name a trial, and set nothing.
NAMES = ("run", "experiment", "started_at", "complete", *BRING_UPS)


def list_other_varying(source: Source, response: Response, factors: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that vary over the trials of a response besides the ``factors``."""
    if not source.knows_factors:
        return list_other_settings(response.rows, list_measured_columns(response), factors)
    varying = source.varying_factors
    twins = dict(varying.confounded)
    same = {name for a, b in twins.items() if {a, b} <= _SIZES and {a, b} & set(factors) for name in (a, b)}
    candidates = [name for name in (*varying.names, *twins) if name not in factors and name not in same]
    if not response.operation.startswith("read"):  # reader and cache matter only to reads
        candidates = [name for name in candidates if name not in READ_FACTORS]
    columns = response.rows.columns
    return tuple(name for name in dict.fromkeys(candidates) if name in columns and columns[name].is_varying)


def list_other_settings(rows: Table, measured: Sequence[str], factors: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of a table that look set and vary, besides the ``measured`` ones and the ``factors``."""
    excluded = (*NAMES, *factors, *measured)
    names = [name for name in roles.guess_roles_of_rows(rows, measured).adjustable if name not in excluded]
    return tuple(name for name in names if rows.columns[name].is_varying)


def find_covariates(rows: Table, measured: Sequence[str], fixed_columns: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers that hardly repeat, without those that have an outcome's unit or name, or number the rows.
    ``fixed_columns``: the factors, or the sides and the columns of cells."""
    column_roles = roles.guess_roles_of_rows(rows, measured)
    taken = (*NAMES, *fixed_columns, *measured)
    covariates = column_roles.select(ColumnRole.COVARIATE)
    candidates = [name for name in (*column_roles.others, *column_roles.settings, *covariates) if name not in taken]
    return tuple(name for name in candidates if is_covariate(rows.column(name)))


def is_covariate(column: Column) -> bool:
    """Return whether a number hardly repeats and is not an outcome: a rate, time or amount."""
    outcome = bool(column.unit) or is_speed(build_metric(column.label or column.name, ""))
    if outcome or not column.numeric or is_rank_number(column):
        return False
    return int((~column.missing).sum()) > 2 and is_mostly_distinct(column)


def list_measured_columns(response: Response) -> list[str]:
    """Return the columns that a response is computed from, as far as the rows have them, and its own."""
    names = [name for name in response.rows.names if name != response.title]
    try:
        expression = derived.parse_expression(response.title, names) if response.measured else None
    except InputError:
        return [response.title]
    return [response.title] if expression is None else [response.title, *expression.names]


def list_columns_in(table: Table, expressions: Sequence[str]) -> list[str]:
    """Return the columns in these names or expressions, such as ``log(Y)`` and ``Y/nodes``."""
    expressions_by_text = {text: derived.parse_over_table(text, table) for text in expressions}
    names = (name for text, parsed in expressions_by_text.items() for name in (parsed.names if parsed else (text,)))
    return list(dict.fromkeys(table.column(name).name for name in names))
