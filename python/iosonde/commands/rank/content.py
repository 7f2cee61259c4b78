"""Factors on a page: their ranking, a model judged on unseen rows, its tree, what-if rows. Values are in the response's
base unit; shares are fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate
from iosonde.page.tables import DataTable, Value


@dataclass(frozen=True)
class FactorShare:
    """A factor's share of the variance: alone (``s1``), with all its interactions (``st``), and the S1 that a dummy
    rarely exceeds. ``tried`` names the levels."""

    name: str
    tried: str
    s1: Estimate
    st: Estimate
    zero_line: float | None


@dataclass(frozen=True)
class ResponseRanking:
    """Factors of a response, the most important first. ``head`` names the data and the estimator."""

    head: str
    sentence: str
    warnings: tuple[str, ...]
    shares: tuple[FactorShare, ...]


@dataclass(frozen=True)
class LearningPoint:
    """Mean |error| on unseen rows after learning from ``n_train`` rows: of the model, and of the mean."""

    n_train: int
    model: float | None
    mean: float | None


@dataclass(frozen=True)
class JudgedModel:
    """A model on unseen rows. ``noise`` is the mean |error| that repeats leave to any model."""

    name: str
    sentence: str
    observed: tuple[float, ...]
    predicted: tuple[float, ...]
    error: Estimate
    mean_error: Estimate
    noise: float | None
    curve: tuple[LearningPoint, ...]


@dataclass(frozen=True)
class Tree:
    """A regression tree: its nodes as a model file has them, the same as (condition, value, rows), and its error."""

    nodes: tuple[Mapping[str, Any], ...]
    rules: tuple[tuple[str, float, int], ...]
    error: Estimate


@dataclass(frozen=True)
class WhatIf:
    """A factor changed to its best other level, all others as they are, and the model's prediction."""

    factor: str
    now: str
    other: str
    predicted: Estimate


@dataclass(frozen=True)
class WhatIfs:
    """Rows of what-if from one setting, factor by factor; ``now`` is the prediction for that setting."""

    setting: str
    now: Estimate
    rows: tuple[WhatIf, ...]
    note: str = ""


@dataclass(frozen=True)
class Influence:
    """Factors of one response; ``missing`` explains what is absent."""

    title: str
    unit: str
    ranking: ResponseRanking | None
    judged: JudgedModel | None
    tree: Tree | None
    what_if: WhatIfs | None
    missing: tuple[str, ...] = ()

    def shares_table(self) -> DataTable:
        """Return one row per factor."""
        columns = ("factor", "tried", "S1", "S1 low", "S1 high", "ST", "ST low", "ST high", "level", "zero line")
        rows: list[tuple[Value, ...]] = [
            (s.name, s.tried, s.s1.value, s.s1.low, s.s1.high, s.st.value, s.st.low, s.st.high, s.s1.level, s.zero_line)
            for s in (self.ranking.shares if self.ranking else ())
        ]
        return DataTable(f"{self.title}: shares of the variance", columns, tuple(rows))

    def points_table(self) -> DataTable:
        """Return observed and predicted values, one row per unseen row."""
        of = f" ({self.unit})" if self.unit else ""
        pairs = zip(self.judged.observed, self.judged.predicted, strict=True) if self.judged else ()
        return DataTable(f"{self.title}: rows not seen", (f"observed{of}", f"predicted{of}"), tuple(pairs))

    def curve_table(self) -> DataTable:
        """Errors by the rows to learn from."""
        of = f" ({self.unit})" if self.unit else ""
        rows = [(p.n_train, p.model, p.mean) for p in (self.judged.curve if self.judged else ())]
        return DataTable(
            f"{self.title}: learning curve", ("rows", f"mean |error|{of}", f"of the mean model{of}"), tuple(rows)
        )

    def rules_table(self) -> DataTable:
        """The tree's leaves."""
        of = f" ({self.unit})" if self.unit else ""
        rows = tuple(self.tree.rules) if self.tree else ()
        return DataTable(f"{self.title}: rules", ("if", f"predicted{of}", "rows"), rows)
