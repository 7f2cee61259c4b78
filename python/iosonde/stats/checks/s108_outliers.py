"""S108: outliers

What it says
    Single trials lie far from the others of their cell. They are kept in every
    number: an outlier is a valid measurement until a cause is known.

How we know
    Rosner's generalised ESD test (Technometrics 25, 1983), which for one
    candidate is Grubbs' test, of the values and of their logs: both must be
    significant. On normal and on log-normal trials it raises one false alarm
    in a hundred tables, whatever the number of cells. At most one trial in
    five, and 20 in a cell, are tested.

When it is wrong
    Latency and rates can have long tails by nature: then these trials are the
    system's real behaviour, and the median and the percentiles describe it
    better than the mean. Two groups of trials (S109) are not outliers.

What to do
    Keep them, unless independent evidence shows that the trial was broken:
    another user's job, a full disk, an incomplete run. Then name the trial and
    the reason, and show the result with and without it. Never drop a trial
    because of its value.
"""

from iosonde.core.types import Finding, Severity
from iosonde.core.units import choose_human_scale, format_significant

from ..estimate.outliers import find_far_values
from . import FAMILY_ALPHA, MAX_LISTED, Subject


def check(subject: Subject) -> list[Finding]:
    """Report trials that lie far from their cell."""
    outliers = []
    for cell in subject.repeated:
        for position in find_far_values(cell.values, FAMILY_ALPHA / max(1, len(subject.cells))):
            rest = sorted(cell.values.tolist())
            outliers.append(
                {
                    "cell": cell.name,
                    "metric": cell.metric,
                    "trial": cell.places[position] if position < len(cell.places) else f"trial {position + 1}",
                    "value": float(cell.values[position]),
                    "median": rest[len(rest) // 2],
                    "unit": cell.unit,
                }
            )
    if not outliers:
        return []
    first = outliers[0]
    scale, unit = choose_human_scale(first["median"], first["unit"])
    value, median = (format_significant(first[name] / scale, 4) for name in ("value", "median"))
    more = f", and {len(outliers) - 1} more" if len(outliers) > 1 else ""
    return [
        Finding(
            "S108",
            Severity.WARNING,
            f"outlier in {first['cell']}: {value} against a median of {f'{median} {unit}'.rstrip()} "
            f"({first['trial']}){more}; kept",
            {"trials": outliers[:MAX_LISTED], "n": len(outliers)},
            "keep it, unless independent evidence shows that the trial was broken",
        )
    ]
