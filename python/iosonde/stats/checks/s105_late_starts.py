"""S105: late starts

What it says
    The ranks did not start a phase together: their first operations are spread
    over more than 1 % of the phase. Rates from the first start to the last end
    then include idle time, and the ranks competed less than the number
    suggests.

How we know
    Every rank records the start of its first operation. Times of different
    nodes are converted to one clock, and compared only if the clocks' error is
    below 1 % of the phase. The median over the trials is tested.

When it is wrong
    In an open loop, where ranks are meant to arrive at different times.

What to do
    Make the phase longer (more or larger files), use no more ranks than cores,
    or see which node starts late in the timeline of the report. The overlap
    rate counts only the time in which all ranks were active.
"""

from iosonde.core.arrays import compute_median
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject
from .runs import group_phases_by_setting

NEEDS_RUNS = True
SHARE = 0.01


def check(subject: Subject) -> list[Finding]:
    """Report operations whose ranks typically start more than 1 % of the phase apart."""
    late = {}
    for name, phases in group_phases_by_setting(subject.runs).items():
        shares = [
            phase.start_spread_ns / phase.duration_ns
            for phase in phases
            if phase.start_spread_ns is not None and phase.duration_ns
        ]
        if shares and compute_median(shares) > SHARE:
            late[name] = compute_median(shares)
    if not late:
        return []
    worst = max(late, key=lambda name: late[name])
    more = f" ({len(late)} phases in all)" if len(late) > 1 else ""
    return [
        Finding(
            "S105",
            Severity.WARNING,
            f"ranks started {100 * late[worst]:.1f} % of the phase apart in {worst}{more}",
            {"share_of_phase": dict(sorted(late.items(), key=lambda item: -item[1])[:MAX_LISTED])},
            "make the phase longer, or use no more ranks than cores",
        )
    ]
