"""How long an application takes that computes, reads and writes in turn, beside how long it took.

T = C + Dr/Sr + Dw/Sw, each S being the bound of its direction (T = D/S: Cheng, CHEP 2004). Where each file lies whole
on a server that chance chose, the busiest server decides. At best the ranks need not wait for each other, and what they
compute is hidden behind what others read and write: then T is the larger of C and the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.stats.estimate.summarise import mean

from .balance import by_chance
from .bound import ceiling
from .system import READ, WRITE, System, with_settings


@dataclass(frozen=True)
class Application:
    """One trial of it: seconds that each rank computes (``compute``), bytes that all ranks ``read`` and ``write``
    together, and in how many files (0: one for each client)."""

    compute: float = 0.0
    read: float = 0.0
    write: float = 0.0
    read_files: int = 0
    write_files: int = 0


@dataclass(frozen=True)
class PredictedTime:
    """One cell: its settings, what was ``predicted`` from the system alone (``n`` is 0) with its ``parts``, what was
    ``measured``, all in s, and measured ÷ predicted. ``units``: of the levels."""

    by: dict[str, Any]
    predicted: Estimate
    parts: Mapping[str, float]
    measured: Estimate
    ratio: Estimate
    units: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {
            "by": self.by, "n": self.measured.n, **self.predicted.flat("predicted"), "parts": dict(self.parts),
            **self.measured.flat("measured"), **self.ratio.flat("ratio"), "warnings": list(self.measured.warnings),
        }  # fmt: skip


def predict(
    work: Application, systems: tuple[System, System, System], placement: str, level: float
) -> tuple[Estimate, dict[str, float]]:
    """T and its parts in s. ``systems``: the cluster as it is, at its worst and at its best; ``placement``: how chance
    chooses the one server of each file (``random``, ``groups``), '' where files are spread evenly. The interval is of
    what is not known of the cluster, of where chance puts the files, and at its low end of how much is computed
    meanwhile. Raises InputError, NothingKnownError."""
    middle, worst, best = (_compute_parts(work, system, placement, level, end) for end, system in enumerate(systems))
    moving = sum(best.values()) - work.compute
    return Estimate(sum(middle.values()), max(work.compute, moving), sum(worst.values()), level, 0), middle


def against(times: npt.NDArray[np.float64], predicted: Estimate, level: float) -> tuple[Estimate, Estimate]:
    """(mean of the trials, mean ÷ predicted): the ratio's interval is that of the mean over both ends of T."""
    measured = mean(times, level).within(low=0.0)
    value, low, high = (_divide(*pair) for pair in (
        (measured.value, predicted.value), (measured.low, predicted.high), (measured.high, predicted.low)))  # fmt: skip
    return measured, replace(measured, value=value, low=low, high=high)


def sentence(rows: Sequence[PredictedTime]) -> str:
    """How far from what was predicted it was, and in how many settings the two can be told apart."""
    ratios = [row.ratio for row in rows]
    values = [ratio.value for ratio in ratios if ratio.value is not None]
    if not values:
        return "Nothing was measured beside a prediction."
    ends = dict.fromkeys(f"{value:.2f}" for value in (min(values), max(values)))
    longer = sum(ratio.low is not None and ratio.low > 1 for ratio in ratios)
    shorter = sum(ratio.high is not None and ratio.high < 1 for ratio in ratios)
    single = sum(ratio.low is None for ratio in ratios)
    counts = [(longer, "longer"), (shorter, "shorter"), (len(rows) - longer - shorter - single, "as predicted"),
            (single, "not to be told of a single trial")]  # fmt: skip
    text = ", ".join(f"{n} {what}" for n, what in counts if n)
    return f"It took {' to '.join(ends)} times as long as predicted; of {len(rows)} settings {text}."


def _compute_parts(work: Application, system: System, placement: str, level: float, end: int) -> dict[str, float]:
    """``compute``, ``read`` and ``write`` in s. ``end``: 0 where files lie as they do on the mean, 1 at worst, 2 at
    best."""
    parts = {"compute": work.compute}
    for operation, amount, files in ((READ, work.read, work.read_files), (WRITE, work.write, work.write_files)):
        if amount:
            moving, share = with_settings(system, {"operation": operation}), None
            if placement:
                moving = with_settings(moving, {"stripe_count": 1, "files": files or None, "placement": placement})
                share = by_chance(moving, level)[end]
            parts[operation] = ceiling(moving, share).seconds(amount)
    return parts


def _divide(of: float | None, by: float | None) -> float | None:
    return of / by if of is not None and by else None
