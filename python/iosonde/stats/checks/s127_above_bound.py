"""S127: above the hardware limit

What it says
    Some rates exceed the limit of the network or the devices. They were served
    from a cache, were computed with the wrong amount of data or time, or are
    in another unit than their column says.

How we know
    Values are compared with the given bound: rates of bytes with {spell.bound}
    117MB/s, others with a plain number in their own unit. A unit such as KB is
    read both as 1000 and as 1024 bytes: above the bound in both readings is an
    error, in one a warning. Up to 1 % above the bound is no excess, as bounds
    and tools' numbers often have three digits.

    Without {spell.bound}, a store's own probe of the same nodes is used: the links
    of a network file system's clients, or the nodes' disks if the probe was of
    the same target; in a lab, its links. A probe may not reach the full rate
    (one file, one stream at a time). So only values above 1.5 times its mean
    and outside its interval are reported, as a warning, as a multiple of its
    mean as in iosonde bound; writes without fsync are left out.

When it is wrong
    When the bound is wrong (more nodes have more network), or the cache was to
    be measured.

What to do
    If the excess is a factor near 8, 1000 or 1024, check the unit. If reads
    exceed and writes do not, the cause is the cache (S104): drop it, or read
    more than the memory. Else check how bytes and seconds were counted.
"""

from collections.abc import Sequence

import numpy as np

from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_rate, format_significant

from ..overview.cells import TrialCell
from ..overview.probed_limits import BeyondLimit, ProbedLimits
from . import MAX_LISTED, Subject

ROUNDED_SHARE = 0.01


def check(subject: Subject) -> list[Finding]:
    """Report metrics with values above ``subject.limit``, and rates above ``subject.bound`` or far above the probe."""
    findings = _report_rates_above_probe(subject) if subject.bound is None else []
    for (operation, metric), cells in subject.families.items():
        findings += _report_values_above_limit(subject.name(operation, metric), cells, subject.limit)
        readings = unit_to_bytes_per_s(cells[0].unit)
        if subject.bound is None or not readings:
            continue
        places, worst, tolerated = [], 0.0, subject.bound * (1 + ROUNDED_SHARE)
        for cell in cells:
            above = np.flatnonzero(cell.values * max(readings) > tolerated)
            places += [cell.places[i] if i < len(cell.places) else cell.name for i in above.tolist()]
            worst = max(worst, float(cell.values.max(initial=0.0)))
        if not places:
            continue
        sure = worst * min(readings) > tolerated
        high, n = worst * (min(readings) if sure else max(readings)), sum(cell.values.size for cell in cells)
        doubt = "" if sure else f" if {cells[0].unit} counts in 1024 and not in 1000"
        findings.append(
            Finding(
                "S127",
                Severity.ERROR if sure else Severity.WARNING,
                f"{len(places)} of {n} values of {subject.name(operation, metric)} are above the bound of "
                f"{format_rate(subject.bound, 'bytes/s')}{doubt}: up to {format_rate(high, 'bytes/s')}, "
                f"{high / subject.bound:.3g} times as much ({places[0]})",
                {
                    "operation": operation,
                    "metric": metric,
                    "unit": cells[0].unit,
                    "bound": subject.bound,
                    "highest": high,
                    "times": high / subject.bound,
                    "n": len(places),
                    "places": places[:MAX_LISTED],
                },
                "look at the unit, then at the cache",
            )
        )
    return findings


def _report_values_above_limit(name: str, cells: Sequence[TrialCell], limit: float | None) -> list[Finding]:
    if limit is None:
        return []
    tolerated = limit + ROUNDED_SHARE * abs(limit)
    above = [(cell, i) for cell in cells for i in np.flatnonzero(cell.values > tolerated)]
    if not above:
        return []
    places = [cell.places[int(i)] if i < len(cell.places) else cell.name for cell, i in above]
    n, highest = sum(cell.values.size for cell in cells), max(float(cell.values[i]) for cell, i in above)
    return [
        Finding(
            "S127",
            Severity.ERROR,
            f"{len(above)} of {n} values of {name} are above the bound of {limit:g}: up to "
            f"{format_significant(highest, 4)}, "
            f"{highest / limit:.3g} times as much ({places[0]})",
            {
                "metric": name,
                "bound": limit,
                "highest": highest,
                "times": highest / limit,
                "n": len(above),
                "places": places[:MAX_LISTED],
            },
            "look at the unit, then at the cache",
        )
    ]


def _report_rates_above_probe(subject: Subject) -> list[Finding]:
    """Report one finding for each metric with rates far above the probe of the same nodes."""
    limits, runs, findings = ProbedLimits(subject.probes, subject.level), {run.id: run for run in subject.runs}, []
    for (operation, metric), cells in subject.families.items():
        above = [excess for cell in cells for excess in limits.beyond(cell, runs)]
        if above:
            findings.append(_build_probe_finding(operation, metric, above, sum(cell.values.size for cell in cells)))
    return findings


def _build_probe_finding(operation: str, metric: str, above: Sequence[BeyondLimit], n: int) -> Finding:
    worst = max(above, key=lambda excess: excess.bytes_per_s / excess.limit.bytes_per_s)
    value, carried, place = worst.bytes_per_s, worst.limit, worst.place
    times = value / carried.bytes_per_s
    return Finding(
        "S127",
        Severity.WARNING,
        f"{len(above)} of {n} values of {operation or metric} are above what {carried.what}, "
        f"{format_rate(carried.bytes_per_s, 'bytes/s')}: up to {format_rate(value, 'bytes/s')}, "
        f"{times:.3g} times as much ({place})",
        {
            "operation": operation,
            "metric": metric,
            "unit": "bytes/s",
            "bound": carried.bytes_per_s,
            "highest": value,
            "times": times,
            "n": len(above),
            "places": [excess.place for excess in above[:MAX_LISTED]],
        },
        "drop the cache, or use more data than the memory holds; or probe again",
    )
