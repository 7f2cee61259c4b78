"""Progress of a choice among models: rows × cost of a row for a family, fit by fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Cost of a row relative to a tree: measured at 2,000 rows and 10 factors. Used for the progress bar alone.
_COST = {"gaussian": 100.0, "boosting": 50.0, "forest": 20.0, "kcca": 20.0, "neighbours": 4.0, "mean": 0.05}

Tell = Callable[[str, float], None]


@dataclass
class FitProgress:
    """Call ``tell(family, share)`` after every fit with the finished share of all work."""

    tell: Tell | None = None
    total: float = 0.0
    done: float = 0.0

    def plan(self, families: Sequence[str], rows: float) -> None:
        """Add ``rows`` rows for each of these families, over all fits together."""
        self.total += sum(map(_get_cost, families)) * rows

    def plan_largest(self, families: Sequence[str], rows: float) -> None:
        """Add ``rows`` rows for the most expensive of these families, as the chosen one is not known yet."""
        self.total += max(map(_get_cost, families)) * rows

    def fitted(self, family: str, rows: int) -> None:
        """Count a finished fit of ``family`` to ``rows`` rows."""
        self.done += _get_cost(family) * rows
        if self.tell:
            self.tell(family, min(1.0, self.done / max(self.total, self.done)))


def _get_cost(family: str) -> float:
    return _COST.get(family, 1.0)
