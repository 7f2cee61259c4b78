"""Can this data be trusted? Every finding with its evidence and its cure, or the noise passport."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.trials import add_computed_columns, build_measured_cells, list_probes
from iosonde.core.column_roles import Roles
from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.core.types import Role
from iosonde.data import roles
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source
from iosonde.data.subsamples import average_trials
from iosonde.stats.checks.examine import Examination, StoreContent, examine_store, examine_table
from iosonde.stats.estimate.noise import Passport, compute_store_passport, compute_table_passport

# What the hardware carries: bytes/s, or a limit in the response's own unit.
CarriedRate = tuple[float | None, float | None]


@dataclass(frozen=True)
class Check(Answer):
    """``examination``: what was checked, found, and not checked. ``warnings``: assumptions."""

    examination: Examination
    warnings: tuple[str, ...] = ()

    @property
    def responses(self) -> tuple[str, ...]:
        """Return what was measured."""
        return self.examination.responses

    def content(self) -> dict[str, Any]:
        """As ``iosonde check --json``."""
        return {**self.examination.to_json(), "warnings": list(self.warnings)}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per finding."""
        return [finding.flat() for finding in self.examination.findings]

    @property
    def problem(self) -> bool:
        """Return whether anything worse than information was found."""
        return self.examination.suspicious


@dataclass(frozen=True)
class Noise(Answer):
    """``passport``: false alarms, variances, smallest differences."""

    passport: Passport

    @property
    def responses(self) -> tuple[str, ...]:
        """Return what was measured."""
        return tuple(f"{metric.operation} {metric.metric}".strip() for metric in self.passport.metrics)

    def content(self) -> dict[str, Any]:
        """As ``iosonde check --noise --json``."""
        return self.passport.to_json()

    def records(self) -> list[dict[str, Any]]:
        """Return one row per metric."""
        return [metric.flat() for metric in self.passport.metrics]


def parse_carried_rate(text: str) -> tuple[float | None, float | None]:
    """Parse a rate as ``117MB/s``, ``1Gbit/s``, or a plain number in the response's own unit; return (bytes/s, the
    number), one of which is None. Raises InputError."""
    match = re.match(r"^\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(\S*)\s*$", text)
    readings = unit_to_bytes_per_s(match[2]) if match else ()
    if not match or (match[2] and not readings) or not float(match[1]) > 0:
        raise InputError(
            "not-a-rate",
            "{spell.bound:'{rate}'} is not a rate",
            "write it like 117MB/s, 1Gbit/s, or as a plain number in the response's own unit",
            rate=text,
        )
    return (float(match[1]) * min(readings), None) if readings else (None, float(match[1]))


def check(
    source: Source,
    query: ResponseQuery,
    by: Sequence[str] = (),
    bytes_per_s: float | None = None,
    limit: float | None = None,
) -> Check:
    """Examine DATA for suspicious findings. The hardware carries ``bytes_per_s``, or a ``limit`` in the response's own
    unit. Raises InputError, DataError."""
    if source.knows_factors:
        return _check_campaign(source, replace(query, on=tuple(by)), bytes_per_s, limit)
    table, column_roles = _prepare_table(source, query, by)
    trials = average_trials(table, column_roles.responses, column_roles.settings)
    examination = examine_table(
        trials.rows,
        query.level,
        column_roles.responses,
        column_roles.settings,
        column_roles.ignored,
        bytes_per_s,
        limit,
    )
    return Check(examination, (trials.note,) if trials.note else ())


def _check_campaign(source: Source, query: ResponseQuery, bytes_per_s: float | None, limit: float | None) -> Check:
    """Examine the trials, the facts of their runs, and the files. Raises InputError, DataError."""
    if limit is not None:
        raise InputError(
            "missing-unit", "the bound {limit:g} has no unit", "write it like 117MB/s or 1Gbit/s", limit=limit
        )
    observed = [factor.name for factor in source.varying_factors.factors if factor.role is Role.OBSERVED]
    trials = build_measured_cells(source, query)
    content = StoreContent(
        source.trial_runs,
        source.find_problems(),
        observed,
        list_probes(source),
        source.run_rows,
    )
    return Check(examine_store(trials, query.level, content, bytes_per_s), trials.warnings)


def _prepare_table(source: Source, query: ResponseQuery, by: Sequence[str]) -> tuple[Table, Roles]:
    """Return the rows with computed columns, and the roles of the columns. Sources of a computed response are not
    settings."""
    if not query.response:
        return source.table, roles.guess_roles(source.table, (), list(by) or None)
    table, names = add_computed_columns(source, source.table, query, by)
    bases = [
        response.measured for response in build_responses(source, replace(query, on=tuple(by))) if response.measured
    ]
    column_roles = roles.guess_roles(table, [*names, *bases], list(by) or None)
    return table, column_roles.with_responses([table.column(name).name for name in names], bases)


def noise(source: Source, query: ResponseQuery, by: Sequence[str] = ()) -> Noise:
    """Measure how often a comparison of this very data gives a false alarm. Raises DataError without repeats."""
    if source.knows_factors:
        return Noise(
            compute_store_passport(
                build_measured_cells(source, replace(query, on=tuple(by))), source.table, query.level
            )
        )
    table, column_roles = _prepare_table(source, query, by)
    return Noise(compute_table_passport(table, query.level, column_roles.responses, column_roles.settings))
