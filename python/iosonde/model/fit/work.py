"""How much of a choice among models is done, for whoever waits: rows × what a row costs a family, fit by fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# What a row costs, a tree being 1: measured at 2,000 rows and 10 factors. They place a bar, nothing else.
_COST = {"gaussian": 100.0, "boosting": 50.0, "forest": 20.0, "kcca": 20.0, "neighbours": 4.0, "mean": 0.05}

Tell = Callable[[str, float], None]


@dataclass
class FitProgress:
    """``tell(family, share)`` is called after every fit with the share of all work that is done."""

    tell: Tell | None = None
    total: float = 0.0
    done: float = 0.0

    def plan(self, families: Sequence[str], rows: float) -> None:
        """Each of these families will learn from so many rows, over all fits together."""
        self.total += sum(map(_get_cost, families)) * rows

    def plan_largest(self, families: Sequence[str], rows: float) -> None:
        """One of them will; which is not known yet."""
        self.total += max(map(_get_cost, families)) * rows

    def fitted(self, family: str, rows: int) -> None:
        """A fit to so many rows is done."""
        self.done += _get_cost(family) * rows
        if self.tell:
            self.tell(family, min(1.0, self.done / max(self.total, self.done)))


def _get_cost(family: str) -> float:
    return _COST.get(family, 1.0)
