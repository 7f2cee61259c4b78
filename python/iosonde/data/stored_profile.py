"""The profile of a stored campaign, whose experiments and importers declare the factors."""

from collections.abc import Collection
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.data_profile import Profile
from iosonde.core.schema import BRING_UPS, ITERATION, OBSERVED_FACTORS, ROW_COLUMNS
from iosonde.core.table import Column, Table
from iosonde.core.types import Role

from .factors import VaryingFactors, find_first_rows
from .profile import build_profile, profile_column
from .response import VALUE

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
    runs = rows.take(find_first_rows(rows))
    runs = replace(runs, columns={name: column for name, column in runs.columns.items() if name not in _OF_ROWS})
    roles = assign_roles(runs, varying, declared)
    profile = build_profile(runs, runs, roles, varying.names, "trial", rows.warnings)
    responses = tuple(
        profile_column(
            Column(" ".join(map(str, key)), trials.numbers(VALUE)[at], unit=str(trials.columns["unit"].values[at[0]])),
            ColumnRole.RESPONSE,
        )
        for key, at in trials.groups(["operation", "metric"])
    )
    return replace(profile, columns=(*responses, *profile.columns))
