"""The profile of DATA: what each column is, which go together, the cells with their trials, and what counts as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from iosonde.core import together
from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.data_profile import ColumnProfile, Profile
from iosonde.core.errors import InputError
from iosonde.core.schema import BRING_UPS, ITERATION, OBSERVED_FACTORS, ROW_COLUMNS
from iosonde.core.table import Cell, Column, Table, format_cell
from iosonde.core.types import Role
from iosonde.core.units import parse_typed_sizes

from . import roles
from .factors import VaryingFactors
from .repeats import describe_repeats
from .response import VALUE
from .stored import KIND
from .subsamples import average_trials

_MIN_LOGARITHMIC_RANGE = 100.0  # two decades
_CAN_GO_TOGETHER = (ColumnRole.SETTING, ColumnRole.COVARIATE, ColumnRole.BLOCK)


_OF_FACTORS = {Role.SET: ColumnRole.SETTING, Role.BLOCKED: ColumnRole.BLOCK, Role.OBSERVED: ColumnRole.COVARIATE}
_OF_RUNS = {
    "run": ColumnRole.REPETITION,
    "repetition": ColumnRole.REPETITION,
    "order": ColumnRole.ORDER,
    "block": ColumnRole.BLOCK,
    **dict.fromkeys(BRING_UPS, ColumnRole.BLOCK),
    **dict.fromkeys(OBSERVED_FACTORS, ColumnRole.COVARIATE),
}
# Columns of results that are no factor of a run.
_OF_ROWS = {
    **dict.fromkeys(ROW_COLUMNS, ColumnRole.FACT),
    "operation": ColumnRole.SETTING,
    "metric": ColumnRole.SETTING,
    VALUE: ColumnRole.RESPONSE,
    "rank": ColumnRole.PART,
    ITERATION: ColumnRole.PART,
}


def profile_table(table: Table) -> Profile:
    """Build the profile of a table, without a response if no column looks measured. Raises DataError for a spoilt
    cell."""
    warnings = (*table.warnings, *describe_repeats(table))
    try:
        column_roles = roles.guess_roles(table)
    except InputError as error:
        column_roles = roles.guess_roles(table, is_measured=False)
        warnings = (*warnings, error.message)
    trials = average_trials(table, column_roles.responses)
    unit = "row" if len(trials.rows) == len(table) else "trial"
    warnings = (*warnings, *filter(None, [trials.note]))
    return build_profile(table, trials.rows, column_roles, column_roles.select(ColumnRole.SETTING), unit, warnings)


def assign_roles(rows: Table, varying: VaryingFactors, declared: Collection[str]) -> Roles:
    """Return the roles of columns of results: factors as they are ``declared``, those of rows, and facts of runs."""
    factors = {factor.name: _OF_FACTORS[factor.role] for factor in (*varying.factors, *varying.twins)}
    others = {
        name: ColumnRole.COVARIATE if column.is_varying else ColumnRole.CONSTANT
        for name, column in rows.columns.items()
        if name in declared
    }
    roles = dict.fromkeys(rows.names, ColumnRole.FACT) | _OF_ROWS | others | _OF_RUNS | factors
    return Roles({name: roles[name] for name in rows.names})


def profile_campaign(rows: Table, trials: Table, varying: VaryingFactors, declared: Collection[str]) -> Profile:
    """Build the profile of the runs of these ``rows``; ``trials`` are the rows of the metrics to analyse."""
    runs = together.take_first_rows(rows, ["run", *rows.inside])
    runs = replace(runs, columns={name: column for name, column in runs.columns.items() if name not in _OF_ROWS})
    roles = assign_roles(runs, varying, declared)
    profile = build_profile(runs, runs, roles, varying.names, "trial", rows.warnings)
    responses = tuple(
        profile_column(
            Column(" ".join(map(str, key)), trials.numbers(VALUE)[at], unit=str(trials.columns["unit"].values[at[0]])),
            ColumnRole.RESPONSE,
        )
        for key, at in trials.groups(KIND)
    )
    return replace(profile, columns=(*responses, *profile.columns))


def build_profile(
    table: Table, trials: Table, column_roles: Roles, factors: Sequence[str], unit: str, warnings: Sequence[str]
) -> Profile:
    """Build the profile of ``table``, whose rows are parts of ``trials``; the ``factors`` form cells."""
    varying = [name for name in column_roles.select(*_CAN_GO_TOGETHER) if len(table.groups([name])) > 1]
    # What goes together is seen in the distinct settings.
    distinct = together.take_first_rows(table, varying)
    groups = together.find_groups(distinct, varying)
    nested = together.find_nested(distinct, varying)
    bring_ups = [name for name in BRING_UPS if name in trials.columns]
    if bring_ups and len(trials.groups(bring_ups)) < len(trials):
        unit = "bring-up"
    columns = tuple(
        profile_column(
            table.columns[name],
            role,
            _find_side(table, name, factors),
            tuple(other for group in groups if name in group for other in group if other != name),
            nested.get(name, ()),
            name in column_roles.stated,
        )
        for name, role in column_roles.by_column.items()
    )
    cells = tuple((key, int(at.size)) for key, at in trials.groups(factors))
    return Profile(columns, tuple(factors), cells, unit, tuple(warnings))


def profile_column(
    column: Column,
    role: ColumnRole,
    missing_at: str = "",
    twins: tuple[str, ...] = (),
    follows: tuple[str, ...] = (),
    is_stated: bool = False,
) -> ColumnProfile:
    """Build the profile of a column from what the others say about it."""
    levels, missing = column.levels, int(column.missing.sum())
    unit, scale, n = column.level_unit or column.unit, _find_scale(levels), len(column.values) - missing
    return ColumnProfile(column.name, role, unit, scale, len(levels), n, missing, missing_at, twins, follows, is_stated)


def _find_scale(levels: Sequence[Cell]) -> str:
    """Return ``log`` for numbers or sizes that span decades, ``linear`` for others, '' for text."""
    numbers: Sequence[float] = parse_typed_sizes(levels) or [
        level for level in levels if isinstance(level, int | float)
    ]
    if len(numbers) < max(len(levels), 1):
        return ""
    return "log" if min(numbers) > 0 and max(numbers) >= _MIN_LOGARITHMIC_RANGE * min(numbers) else "linear"


def _find_side(table: Table, name: str, factors: Sequence[str]) -> str:
    """Return the setting at which all missing cells of a column are, such as ``fs=nfs``; '' without one."""
    missing = table.columns[name].missing
    for factor in factors:
        codes, levels = table.columns[factor].codes()
        sides = set(codes[missing].tolist())
        if len(sides) == 1 < len(levels) and factor != name:
            return f"{factor}={format_cell(levels[sides.pop()])}"
    return ""
