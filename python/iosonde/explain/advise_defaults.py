"""Defaults: what each fixed setting would cost against the best setting of every instance.

The table compares a default with the best choice per instance by two means of its share of the best. The arithmetic
mean describes its usual quality, the harmonic mean its bad cases. Criteria may disagree; then each has its winner.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Default:
    """A fixed setting over all instances.

    ``best`` and ``worst`` count the instances where it is; ``tied`` those where it is not significantly worse than the
    best (None without repeats). ``rel_arith`` and ``rel_harm`` are means of its share of the best (a fraction: value ÷
    best, for a time best ÷ value); ``lowest`` is its worst case. ``abs`` and ``loss`` are means in the response's unit,
    ``abs_harm`` the harmonic one; loss is the difference to the best (for a time: saved).
    """

    setting: str
    best: int
    worst: int
    rel_arith: float
    abs: float
    loss: float
    rel_harm: float
    abs_harm: float | None = None
    lowest: float | None = None
    tied: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


# Criteria of a good default; ``abs`` is reversed for a time.
CRITERIA: dict[str, Callable[[Default], float]] = {
    "rel_arith": lambda d: d.rel_arith,
    "rel_harm": lambda d: d.rel_harm,
    "abs": lambda d: d.abs,
    "loss": lambda d: -d.loss,
    "best": lambda d: d.best,
    "worst": lambda d: -d.worst,
    "lowest": lambda d: d.lowest or 0.0,
}


def compute_shares_of_best(values: Array, lower: bool, scale: Array | None = None) -> Array:
    """Convert instances × settings to the share of the best (or of ``scale``, by instance)."""
    best = get_best_values(values, lower) if scale is None else scale
    return np.asarray(best[:, None] / values if lower else values / best[:, None])


def get_best_values(values: Array, lower: bool) -> Array:
    """The best value of each instance."""
    return np.asarray(values.min(axis=1) if lower else values.max(axis=1))


def build_defaults(values: Array, names: Sequence[str], lower: bool, tied: Mask | None = None) -> tuple[Default, ...]:
    """Build the table: a row per setting. ``values`` are instances × settings, positive."""
    share, best = compute_shares_of_best(values, lower), get_best_values(values, lower)
    n_best = np.bincount(share.argmax(axis=1), minlength=len(names))
    n_worst = np.bincount(share.argmin(axis=1), minlength=len(names))
    return tuple(
        Default(
            name,
            int(n_best[i]),
            int(n_worst[i]),
            float(share[:, i].mean()),
            float(values[:, i].mean()),
            float(np.abs(best - values[:, i]).mean()),
            float(1 / (1 / share[:, i]).mean()),
            float(1 / (1 / values[:, i]).mean()),
            float(share[:, i].min()),
            None if tied is None else int(tied[:, i].sum()),
        )
        for i, name in enumerate(names)
    )


def find_best_default_by_criterion(table: Sequence[Default], lower: bool = False) -> dict[str, str]:
    """Return the best default by each criterion; ties go to the higher arithmetic mean."""
    winners = {}
    for name, score in CRITERIA.items():
        sign = -1.0 if name == "abs" and lower else 1.0
        ranked = [(sign * score(default), default.rel_arith) for default in table]
        winners[name] = table[ranked.index(max(ranked))].setting
    return winners
