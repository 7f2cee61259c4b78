"""Time of an application that computes, reads and writes in turn, predicted and measured.

T = C + Dr/Sr + Dw/Sw, each S being the bound of its direction (T = D/S: Cheng, CHEP 2004). If each file lies whole on a
random server, the busiest server decides. At best no rank waits for another, and computing overlaps with other ranks'
I/O: then T is the larger of C and the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.arrays import Array
from iosonde.core.types import Estimate
from iosonde.stats.estimate.summarise import estimate_mean

from .balance import compute_random_balance
from .bound import compute_ceiling
from .system import READ, WRITE, System, replace_fields


@dataclass(frozen=True)
class Application:
    """Work of one trial: seconds that each rank computes (``compute``), bytes that all ranks ``read`` and ``write``
    together, and the number of files (0: one for each client)."""

    compute: float = 0.0
    read: float = 0.0
    write: float = 0.0
    read_files: int = 0
    write_files: int = 0


@dataclass(frozen=True)
class PredictedTime:
    """Predicted and measured time of one setting, in s, and ``ratio`` = measured ÷ predicted.

    ``predicted`` comes from the system alone (``n`` is 0); ``parts`` are its summands. ``units``: units of the
    levels."""

    by: dict[str, Any]
    predicted: Estimate
    parts: Mapping[str, float]
    measured: Estimate
    ratio: Estimate
    units: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {
            "by": self.by,
            "n": self.measured.n,
            **self.predicted.flat("predicted"),
            "parts": dict(self.parts),
            **self.measured.flat("measured"),
            **self.ratio.flat("ratio"),
            "warnings": list(self.measured.warnings),
        }


def predict_time(
    work: Application, systems: tuple[System, System, System], placement: str, level: float
) -> tuple[Estimate, dict[str, float]]:
    """Return T and its parts in s.

    ``systems``: the cluster as it is, at its worst and at its best. ``placement``: how chance chooses the one server of
    each file (``random``, ``groups``), '' if files are striped evenly. The interval covers unknown properties of the
    cluster and the placement; its low end also covers overlap with computing. Raises InputError,
    UnlimitedSystemError."""
    middle, worst, best = (_compute_parts(work, system, placement, level, end) for end, system in enumerate(systems))
    return Estimate(
        sum(middle.values()), max(work.compute, sum(best.values()) - work.compute), sum(worst.values()), level, 0
    ), middle


def compare_with_prediction(times: Array, predicted: Estimate, level: float) -> tuple[Estimate, Estimate]:
    """(mean of the trials, mean ÷ predicted): the ratio's interval is that of the mean over both ends of T."""
    measured = estimate_mean(times, level).within(low=0.0)
    value, low, high = (
        of / by if of is not None and by else None
        for of, by in (
            (measured.value, predicted.value),
            (measured.low, predicted.high),
            (measured.high, predicted.low),
        )
    )
    return measured, replace(measured, value=value, low=low, high=high)


def describe_range_of_ratios(rows: Sequence[PredictedTime]) -> str:
    """Describe the range of measured ÷ predicted, and count the settings that differ significantly."""
    ratios = [row.ratio for row in rows]
    values = [ratio.value for ratio in ratios if ratio.value is not None]
    if not values:
        return "No setting has a measured time to compare with its prediction."
    ends = dict.fromkeys(f"{value:.2f}" for value in (min(values), max(values)))
    longer = sum(ratio.low is not None and ratio.low > 1 for ratio in ratios)
    shorter = sum(ratio.high is not None and ratio.high < 1 for ratio in ratios)
    single = sum(ratio.low is None for ratio in ratios)
    counts = [
        (longer, "longer"),
        (shorter, "shorter"),
        (len(rows) - longer - shorter - single, "as predicted"),
        (single, "inconclusive with a single trial"),
    ]
    text = ", ".join(f"{n} {what}" for n, what in counts if n)
    return f"It took {' to '.join(ends)} times as long as predicted; of {len(rows)} settings {text}."


def _compute_parts(work: Application, system: System, placement: str, level: float, end: int) -> dict[str, float]:
    """``compute``, ``read`` and ``write`` in s. ``end``: 0 where files lie as they do on the mean, 1 at worst, 2 at
    best."""
    parts = {"compute": work.compute}
    for operation, amount, files in ((READ, work.read, work.read_files), (WRITE, work.write, work.write_files)):
        if amount:
            moving, share = replace_fields(system, {"operation": operation}), None
            if placement:
                moving = replace_fields(moving, {"stripe_count": 1, "files": files or None, "placement": placement})
                share = compute_random_balance(moving, level)[end]
            parts[operation] = compute_ceiling(moving, share).seconds(amount)
    return parts
