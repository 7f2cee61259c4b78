"""Advice on a page: the setting to choose, against the one in use or the best default, and the rules. Shares are
fractions of the best in each instance (a combination of workload levels). Each setting appears in words, and as
``set``, column → level in base units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.page.tables import DataTable, Value


@dataclass(frozen=True)
class AdviceDefault:
    """A fixed setting for everything. It counts the instances where the setting is best, tied with the best (None: no
    repeats) and worst. It has the share of the best as arithmetic and harmonic mean and its minimum, and the mean in
    the response's unit."""

    setting: str
    set: Mapping[str, Cell]
    note: str  # "in use", "best default" or nothing
    best: int
    tied: int | None
    worst: int
    share: float
    harmonic: float
    lowest: float | None
    mean: float


@dataclass(frozen=True)
class AdviceRule:
    """A setting with its ``conditions`` on each factor, the number of instances behind it, and its mean and lowest
    share of the best."""

    when: str
    then: str
    conditions: tuple[Mapping[str, Any], ...]
    set: Mapping[str, Cell]
    instances: int
    share: float
    lowest: float


@dataclass(frozen=True)
class Compared:
    """A choice in cross-validation: its share of the best possible, and its worst case (None: unknown). ``set`` is None
    for rules, and for the unreachable optimum."""

    name: str
    set: Mapping[str, Cell] | None
    share: Estimate
    lowest: float | None


@dataclass(frozen=True)
class ResponseAdvice:
    """Advice for one response. ``ratio`` is the geometric mean of its speed over that of ``over``; ``over_set`` is that
    by columns."""

    title: str
    unit: str
    head: str
    sentence: str
    choose: tuple[str, ...]
    over: str
    over_set: Mapping[str, Cell] | None
    ratio: Estimate | None
    compared: tuple[Compared, ...]
    defaults: tuple[AdviceDefault, ...]
    rules: tuple[AdviceRule, ...]
    warnings: tuple[str, ...]

    @property
    def tied(self) -> bool:
        """Return whether ties are known."""
        return any(default.tied is not None for default in self.defaults)

    def defaults_table(self) -> DataTable:
        """Return one row per setting."""
        of = f" ({self.unit})" if self.unit else ""
        columns = (
            "/".join(self.choose),
            "best",
            "tied",
            "worst",
            "share of best",
            "harmonic mean of it",
            "worst case",
            f"mean{of}",
        )
        rows: list[tuple[Value, ...]] = [
            (d.setting, d.best, d.tied, d.worst, d.share, d.harmonic, d.lowest, d.mean) for d in self.defaults
        ]
        return DataTable(f"{self.title}: defaults", columns, tuple(rows))

    def rules_table(self) -> DataTable:
        """Return one row per rule."""
        rows: list[tuple[Value, ...]] = [(r.when, r.then, r.instances, r.share, r.lowest) for r in self.rules]
        return DataTable(
            f"{self.title}: rules", ("when", "set", "workloads", "share of best", "worst case"), tuple(rows)
        )
