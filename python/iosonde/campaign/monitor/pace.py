"""When the next look may begin: after the interval, within the budget, later under load."""

import os
import statistics
from collections.abc import Sequence

MAX_STRAIN = 2  # the interval is doubled as often
_MAX_LOAD = 1.5  # load average per CPU; a node that computes has 1
_MAX_SLOWNESS = 2.0  # a look this many times slower than usual is under load
_MIN_USUAL = 5  # looks from which the usual time is known
USUAL_LOOKS = 48


def measure_load() -> float:
    """Return the load average of this node over a minute, per CPU."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def adjust_strain(strain: int, load: float, seconds: float | None, usual: Sequence[float]) -> int:
    """Return how often the interval is doubled after a look: once more under load, up to ``MAX_STRAIN``, else once
    less.

    ``load``: per CPU; ``seconds``: what the operations of the look took, None if it failed, which is no load;
    ``usual``: the same of the last complete looks before it.
    """
    is_slow = seconds is not None and len(usual) >= _MIN_USUAL and seconds > _MAX_SLOWNESS * statistics.median(usual)
    return min(strain + 1, MAX_STRAIN) if is_slow or load > _MAX_LOAD else max(strain - 1, 0)


def compute_gap_s(every_s: float, budget: float, busy_s: float, strain: int) -> float:
    """Return the time from the begin of a look that kept the mount busy for ``busy_s`` to that of the next: the budget
    is never exceeded, so the share of each such period is at most ``budget``."""
    return max(every_s * (1 << strain), busy_s / budget)


def compute_timer_gap_s(every_s: float, budget: float, busy_s: float, strain: int) -> float:
    """Return the same for looks that a timer begins: it keeps the interval, so that only load and budget skip one.
    Half an interval of grace lets a timer be early."""
    return max(every_s * ((1 << strain) - 0.5) if strain else 0.0, busy_s / budget)
