"""How two sides are compared pair by pair, and when that ends: what is sealed before the first pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from . import decision
from .types import Experiment


@dataclass(frozen=True)
class PairRule:
    """``a`` (the base) and ``b`` are levels of ``factor``. ``metric`` decides, '' by the rule of ``headline``; it has
    the confidence ``level`` over all ``cells`` together. At most ``most`` pairs of each cell are measured.
    ``fail_if``: conditions of a gate; measuring ends when each of them is told, and the verdict decides nothing."""

    factor: str
    a: str
    b: str
    metric: str
    margin: float
    level: float
    most: int
    cells: int = 1
    fail_if: tuple[str, ...] = ()

    def sealed(self) -> dict[str, Any]:
        """As it stands in a decision."""
        fields = asdict(self)
        return fields if self.fail_if else {key: value for key, value in fields.items() if key != "fail_if"}

    def share(self, metrics: int = 1) -> float:
        """The level of each interval, so that all cells of so many metrics together have ``level`` (Bonferroni)."""
        return 1 - (1 - self.level) / (self.cells * metrics)


def pair_rule(experiment: Experiment) -> PairRule | None:
    """The rule that was sealed for an experiment, None where it is not of pairs."""
    sealed: Mapping[str, Any] = experiment.settings.get(decision.KEY) or {}
    if not sealed.get("pairs"):
        return None
    return PairRule(**{**sealed["pairs"], "fail_if": tuple(sealed["pairs"].get("fail_if", ()))})
