"""Findings about data: one file each, its docstring the manual page that ``iosonde explain CODE`` prints.

A check is a module ``sNNN_name.py`` with ``CODE`` and ``check(subject) -> list[Finding]`` (S1xx and S2xx, about
data) or ``check_fit(subject)`` (S3xx, about a regression). Its number says who asks it: ``summary`` and the page
show those up to S120 and some more (``SUMMARY``), ``check`` all below S300. One with ``NEEDS_RUNS = True`` is left out
where there is no run.json, as for a plain table. A new check needs no other change in code.

A check stays silent about what it was not given. One that tests many cells shares ``FAMILY_ALPHA`` among them, so
its chance of a false alarm on clean data stays near that, however large the table.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from iosonde.core.headlines import metric_words
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
    """What is looked at. ``cells`` hold the trials of each cell in the order they were made.

    ``runs`` are those of a store (empty for a plain table), ``table`` the rows behind the cells.
    ``bound``: what the network or the devices can carry, in bytes/s; ``limit``: what no value
    can pass, in the responses' own unit. ``observed``: settings that were
    only seen, as opposed to set: nobody owes all their combinations. ``probes``: complete repetitions of the store's
    probes. ``records``: all that is known of each trial of a store, also where only some metrics are looked at.
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
        """Whether all trials are ones that were planned here, whose order is drawn."""
        return bool(self.runs) and all("order" in run.facts and not run.imported for run in self.runs)

    @cached_property
    def families(self) -> dict[tuple[str, str], list[TrialCell]]:
        """The cells by (operation, metric): only these have values of one kind."""
        cells_by_kind: dict[tuple[str, str], list[TrialCell]] = {}
        for cell in self.cells:
            cells_by_kind.setdefault((cell.operation, cell.metric), []).append(cell)
        return cells_by_kind

    def name(self, operation: str, metric: str) -> str:
        """What a finding calls them: the operation alone where it has one metric."""
        several = operation and self._metric_counts[operation] > 1
        return f"{operation} {metric_words(metric)}" if several else operation or metric

    @cached_property
    def _metric_counts(self) -> Counter[str]:
        """How many metrics each operation has."""
        return Counter(operation for operation, _ in self.families)

    @cached_property
    def repeated(self) -> list[TrialCell]:
        """The cells with more than one value: of a table there may be a million others."""
        return [cell for cell in self.cells if cell.values.size > 1]


def modules() -> dict[str, str]:
    """Code → name of the module, without importing any of them."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name.split("_")[0].upper(): f"{__name__}.{name}" for name in names if name[:1] == "s" and name[1:4].isdigit()
    }


# The findings that a summary shows, and those about the data that `check` shows.
SUMMARY = tuple(code for code in modules() if code <= "S120" or code in ("S127", "S130", "S131"))
CHECK = tuple(code for code in modules() if code < "S300")


def needs_runs(code: str) -> bool:
    """Whether a check reads run.json, which a plain table has not."""
    return getattr(importlib.import_module(modules()[code]), "NEEDS_RUNS", False)


def page(code: str) -> str | None:
    """The manual page of a finding, None if there is no such code."""
    name = modules().get(code.upper())
    return None if name is None else importlib.import_module(name).__doc__


def run(subject: Subject, codes: Sequence[str] | None = None) -> list[Finding]:
    """All findings (or only those of ``codes``), errors first."""
    return worst_first([finding for check in _load_checks("check", codes) for finding in check(subject)])


def run_fit(subject: FitSubject) -> list[Finding]:
    """All findings about a regression, errors first."""
    return worst_first([finding for check in _load_checks("check_fit") for finding in check(subject)])


def _load_checks(name: str, codes: Sequence[str] | None = None) -> Iterator[Any]:
    for code, module in modules().items():
        if codes is None or code in codes:
            function = getattr(importlib.import_module(module), name, None)
            if function:
                yield function


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, then warnings, then information."""
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def some(names: Sequence[str]) -> str:
    """A few names as text: ``a, b and 7 more``."""
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more"
