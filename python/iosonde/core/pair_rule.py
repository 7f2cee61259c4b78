"""The rule of a paired comparison and when it stops; sealed before the first pair."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from . import decision
from .types import Experiment


@dataclass(frozen=True)
class PairRule:
    """The rule of a paired comparison. ``a`` (the baseline) and ``b`` are levels of ``factor``. ``metric`` decides ('':
    by the rule of ``headline``), with confidence ``level`` over all ``cells`` together. Each cell has at most ``most``
    pairs. ``fail_if``: conditions of a gate; measuring then stops when each of them is decided, not at the verdict."""

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
        """Return the rule as stored in a decision."""
        fields = asdict(self)
        return fields if self.fail_if else {key: value for key, value in fields.items() if key != "fail_if"}

    def share(self, metrics: int = 1) -> float:
        """Return the level of each interval, so that all cells of ``metrics`` metrics together have ``level``
        (Bonferroni)."""
        return 1 - (1 - self.level) / (self.cells * metrics)


def build_pair_rule(experiment: Experiment) -> PairRule | None:
    """Return the sealed pairing rule of an experiment, or None if it is unpaired."""
    sealed: Mapping[str, Any] = experiment.settings.get(decision.KEY) or {}
    if not sealed.get("pairs"):
        return None
    return PairRule(**{**sealed["pairs"], "fail_if": tuple(sealed["pairs"].get("fail_if", ()))})
