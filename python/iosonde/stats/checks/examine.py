"""The answer of ``check``: every finding about a table or a store, how its columns were read, and gaps.

No finding does not mean clean data: gaps list the checks that had too few trials or facts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from iosonde.core.contradiction import OTHER_UNIT
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Finding, Severity

from .. import checks
from ..estimate import autocorrelation, copies, modes, outliers
from ..overview import wire
from ..overview.cells import MeasuredCells, find_hidden_factors, group_into_cells, note_other_settings
from ..overview.overview import find_hidden_in_store


@dataclass(frozen=True)
class Examination:
    """Examined data and findings. ``unseen``: checks that were impossible, and what they need."""

    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    responses: tuple[str, ...]
    settings: tuple[str, ...]
    ignored: tuple[str, ...]
    n_rows: int
    n_cells: int
    n_checks: int
    fewest: int
    most: int

    @property
    def suspicious(self) -> bool:
        """Return whether any finding is worse than information."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)

    @property
    def n_by_severity(self) -> dict[Severity, int]:
        """Count the findings of each severity, the least severe first."""
        return {severity: sum(finding.severity is severity for finding in self.findings) for severity in Severity}

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``iosonde check --json``."""
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "unseen": list(self.unseen),
            "responses": list(self.responses),
            "settings": list(self.settings),
            "ignored": list(self.ignored),
            "n_rows": self.n_rows,
            "n_cells": self.n_cells,
            "n_checks": self.n_checks,
            "trials": {"fewest": self.fewest, "most": self.most},
        }


def examine_table(
    table: Table,
    level: float,
    responses: Sequence[str],
    by: Sequence[str],
    ignored: Sequence[str] = (),
    bound: float | None = None,
    limit: float | None = None,
) -> Examination:
    """Examine a plain table. ``ignored``: columns that number or date the rows, or hold remarks. Raises DataError."""
    if len(table) == 0:
        raise DataError(
            "empty-table",
            "{source} has no rows",
            "give a table with at least one measurement",
            source=table.source or "the table",
        )
    ordered = _sort_by_time(_restore_other_units(table), ignored)
    cells = [cell for cell in group_into_cells(ordered, responses, by) if cell.values.size]
    hidden = find_hidden_factors(ordered, cells, [*responses, *ignored])
    subject = checks.Subject(
        note_other_settings(cells, ordered, list(hidden)),
        level,
        table=ordered,
        hidden=hidden,
        bound=bound,
        limit=limit,
    )
    return _run_examination(subject, responses, by, ignored)


@dataclass(frozen=True)
class StoreContent:
    """Contents of a store to examine with its cells. ``problems``: findings about its files; ``observed``: factors that
    were not set; ``probes``: repetitions of its probes; ``all_results``: results of its runs, of all metrics."""

    runs: Sequence[StoredRun]
    problems: Sequence[Finding] = ()
    observed: Sequence[str] = ()
    probes: Sequence[StoredRun] = ()
    all_results: Table | None = None


def examine_store(
    measured: MeasuredCells, level: float, content: StoreContent, bound: float | None = None
) -> Examination:
    """Examine a store."""
    subject = checks.Subject(
        measured.cells,
        level,
        content.runs,
        measured.rows,
        find_hidden_in_store(measured),
        bound,
        observed=content.observed,
        probes=content.probes,
        records=None if content.all_results is None else copies.group_numbers_by_run(content.all_results),
    )
    return _run_examination(
        subject,
        tuple(dict.fromkeys(f"{cell.operation} {cell.metric}" for cell in measured.cells)),
        measured.by,
        (),
        content.problems,
    )


def _run_examination(
    subject: checks.Subject,
    responses: Sequence[str],
    settings: Sequence[str],
    ignored: Sequence[str],
    problems: Sequence[Finding] = (),
) -> Examination:
    codes = [code for code in checks.CHECK if subject.runs or not checks.needs_runs(code)]
    sizes = [cell.n for cell in subject.cells if cell.values.size]
    return Examination(
        tuple(checks.sort_by_severity([*problems, *checks.run_checks(subject, codes)])),
        tuple(_list_blind_spots(subject, sizes)),
        tuple(responses),
        tuple(settings),
        tuple(ignored),
        0 if subject.table is None else len(subject.table),
        len(sizes),
        len(codes),
        min(sizes, default=0),
        max(sizes, default=0),
    )


def _list_blind_spots(subject: checks.Subject, sizes: Sequence[int]) -> Iterator[str]:
    most = max(sizes, default=0)
    repeated = sum(size for size in sizes if size >= 3)
    if most < 2:
        yield Message(
            "no-replication", "one trial per setting: spread, drift, autocorrelation and outliers cannot be checked"
        )
    elif repeated < autocorrelation.LEAST:
        yield Message(
            "too-few-trials",
            "drift and autocorrelation need at least {least} repeated trials",
            least=autocorrelation.LEAST,
        )
    if 2 <= most < outliers.LEAST:
        yield Message("too-few-trials", "outliers need at least {least} trials per cell", least=outliers.LEAST)
    if 2 <= most < modes.LEAST:
        yield Message("too-few-trials", "two modes need at least {least} trials per cell", least=modes.LEAST)
    yield from _list_unchecked_limits(subject)


def _list_unchecked_limits(subject: checks.Subject) -> Iterator[str]:
    if (subject.bound, subject.limit) == (None, None) and not subject.probes:
        yield Message("missing-bound", "values above the hardware limit need {spell.bound}")
    if not subject.runs:
        yield Message("unknown-machines", "caches, loads and clocks of a table's machines are unknown")
    if why := wire.explain_unknown_traffic(subject.runs):
        yield Message("unknown-traffic", "network traffic: {reason}", reason=why)


def _restore_other_units(table: Table) -> Table:
    """Return the table with the numbers in another unit that were left out when its file was read."""
    columns = dict(table.columns)
    for message in table.warnings:
        if isinstance(message, Message) and message.code == OTHER_UNIT and table.lines is not None:
            column, cells = columns[str(message.values["column"])], message.values["cells"]
            assert isinstance(cells, dict)
            values = [cells.get(str(line), value) for line, value in zip(table.lines, column.values, strict=True)]
            columns[column.name] = replace(column, values=np.array(values, dtype=float))
    return replace(table, columns=columns)


def _sort_by_time(table: Table, names: Sequence[str]) -> Table:
    dated = next((name for name in names if not table.column(name).numeric), None)
    if dated is None:
        return table
    try:
        moments = [datetime.fromisoformat(str(value)) for value in table.column(dated).values]
        order = sorted(range(len(table)), key=lambda row: moments[row])
    except (ValueError, TypeError):  # a missing date, or a mix of dates with and without time zone
        return table
    return table.take(np.array(order, dtype=np.intp))
