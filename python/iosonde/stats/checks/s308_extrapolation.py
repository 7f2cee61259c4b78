"""S308: outside the data

What it says
    A prediction was asked for at a point outside the data that the line was
    fitted to. Its interval assumes that the line goes on, which nothing here
    can show.

How we know
    A predictor is outside its range, or the combination is further from the
    others (its leverage) than every row.

When it is wrong
    When theory says how the relation goes on.

What to do
    Measure there, or quote the prediction as what it is: a guess with an
    interval that is too narrow.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject

CODE = "S308"


def check_fit(subject: FitSubject) -> list[Finding]:
    """Points outside the data."""
    outside = [point.at for point in subject.points if point.extrapolated]
    if not outside:
        return []
    listing = "; ".join(", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                                for name, value in at.items()) for at in outside)  # fmt: skip
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"{listing} lies outside the data: nothing here shows that the line goes on",
            {"at": outside},
            "measure there, or say that it is an extrapolation",
        )
    ]
