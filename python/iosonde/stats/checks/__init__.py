"""Findings about data: one file per check. Its docstring is the manual page that ``iosonde explain CODE`` prints.

A check is a module ``sNNN_name.py`` with ``check(subject) -> list[Finding]`` (S1xx and S2xx, about data) or
``check_fit(subject)`` (S3xx, about a regression). The number decides where it is shown: ``summary`` and the page
show those up to S120 and some more (``SUMMARY``), ``check`` all below S300. A check with ``NEEDS_RUNS = True`` is
skipped without run.json, as for a plain table. A new check needs no other change in code.

A check is silent about data it does not have. A check of many cells splits ``FAMILY_ALPHA`` among them. Its family-wise
false alarm rate on clean data then stays near that, whatever the size of the table. A page names an option as
``{spell.cache:cold}``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import format_metric
from iosonde.core.message import Message, spell_page
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Finding, Severity

from ..estimate.copies import Records
from ..overview.cells import TrialCell

if TYPE_CHECKING:
    from ..regression.types import FitSubject

FAMILY_ALPHA = 0.01
MAX_LISTED = 10


@dataclass(frozen=True)
class Subject:
    """Data to check. ``cells`` hold the trials of each cell in the order of measurement.

    ``runs`` are those of a store (empty for a plain table), ``table`` the rows behind the cells. ``bound``: limit of
    the network or the devices in bytes/s; ``limit``: upper limit of any value, in the responses' own unit.
    ``observed``: settings that were only observed, not set; their combinations need not be complete. ``probes``:
    complete repetitions of the store's probes. ``records``: the full record of each trial of a store, even if only some
    metrics are checked.
    """

    cells: Sequence[TrialCell]
    level: float
    runs: Sequence[StoredRun] = ()
    table: Table | None = None
    hidden: Mapping[str, list[str]] = field(default_factory=dict)
    bound: float | None = None
    limit: float | None = None
    observed: Sequence[str] = ()
    probes: Sequence[StoredRun] = ()
    records: Records | None = None

    @property
    def is_order_drawn(self) -> bool:
        """Return whether all trials were measured here, in a random order."""
        return bool(self.runs) and all("order" in run.facts and not run.imported for run in self.runs)

    @cached_property
    def families(self) -> dict[tuple[str, str], list[TrialCell]]:
        """Group the cells by (operation, metric): values within a group are comparable."""
        return group_by_key(((cell.operation, cell.metric), cell) for cell in self.cells)

    @cached_property
    def finest_families(self) -> dict[tuple[str, str], list[TrialCell]]:
        """Group the trials of all settings in the same way: only time differs between those of one cell."""
        parts = [part for cell in self.cells for part in cell.split_by_others()]
        is_repeated = any(part.values.size > 1 for part in parts)
        return group_by_key(((part.operation, part.metric), part) for part in (parts if is_repeated else self.cells))

    def name(self, operation: str, metric: str) -> str:
        """Return the name of a metric in findings: the operation alone if it has one metric."""
        metrics = self._metrics.get(operation, ()) if operation else ()
        return f"{operation} {format_metric(metric, operation, metrics)}" if len(metrics) > 1 else operation or metric

    def report_warnings(self, warning: str, code: str, action: str) -> list[Finding]:
        """Return a finding for each warning of the table with this code, about what was left out when it was read."""
        warnings = self.table.warnings if self.table is not None else ()
        return [
            Finding(code, Severity.WARNING, message, dict(message.values), action)
            for message in warnings
            if isinstance(message, Message) and message.code == warning
        ]

    @cached_property
    def _metrics(self) -> dict[str, list[str]]:
        return group_by_key(self.families)

    @cached_property
    def repeated(self) -> list[TrialCell]:
        """Return the cells with more than one value; a table may have a million others."""
        return [cell for cell in self.cells if cell.values.size > 1]


@cache
def list_check_modules() -> Mapping[str, str]:
    """Return code → name of the module, without importing the modules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name.split("_")[0].upper(): f"{__name__}.{name}" for name in names if name[:1] == "s" and name[1:4].isdigit()
    }


_FROM_OUTPUTS = tuple(f"S{number}" for number in range(134, 146))
_SUMMARY_TOO = ("S127", "S130", "S131", *_FROM_OUTPUTS)
# Findings shown by a summary, and findings about data shown by `check`.
SUMMARY = tuple(code for code in list_check_modules() if code <= "S120" or code in _SUMMARY_TOO)
# Checks of the order of the trials, or of the shape of their distribution.
_NEED_TRIALS = frozenset(("S103", "S108", "S109", "S121", "S122", "S124", "S125", "S129"))
CHECK = tuple(code for code in list_check_modules() if code < "S300")


def needs_runs(code: str) -> bool:
    """Return whether a check reads run.json, which a plain table lacks."""
    return getattr(importlib.import_module(list_check_modules()[code]), "NEEDS_RUNS", False)


def find_manual_page(code: str) -> str | None:
    """Return the manual page of a finding, or None for an unknown code."""
    name = list_check_modules().get(code.upper())
    return None if name is None else spell_page(importlib.import_module(name).__doc__ or "")


def run_checks(subject: Subject, codes: Sequence[str] | None = None) -> list[Finding]:
    """Return all findings (or only those of ``codes``), errors first. Rows that stand for the trials of means have
    neither the order nor the shape of these."""
    if subject.table is not None and subject.table.row_statistics:
        codes = [code for code in codes or list_check_modules() if code not in _NEED_TRIALS]
    return sort_by_severity([finding for check in _load_checks("check", codes) for finding in check(subject)])


def run_fit_checks(subject: FitSubject) -> list[Finding]:
    """Return all findings about a regression, errors first."""
    return sort_by_severity([finding for check in _load_checks("check_fit") for finding in check(subject)])


def _load_checks(name: str, codes: Sequence[str] | None = None) -> Iterator[Any]:
    for code, module in list_check_modules().items():
        if codes is None or code in codes:
            function = getattr(importlib.import_module(module), name, None)
            if function:
                yield function


def sort_by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """Sort findings: errors, then warnings, then information."""
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def format_some_names(names: Sequence[str]) -> str:
    """Return a few names as text: ``a, b and 7 more``."""
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
