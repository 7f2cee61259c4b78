"""S308: extrapolation

What it says
    A prediction was requested at a point outside the fitted data. Its interval
    assumes that the line continues, which the data cannot show.

How we know
    A predictor is outside its range, or the combination has a higher leverage
    than every row.

When it is wrong
    When theory says how the relation continues.

What to do
    Measure there, or report the prediction as an extrapolation with an
    interval that is too narrow.
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report points outside the data."""
    outside = [point.at for point in subject.points if point.extrapolated]
    if not outside:
        return []
    listing = "; ".join(
        ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in at.items())
        for at in outside
    )
    return [
        Finding(
            "S308",
            Severity.WARNING,
            f"{listing} lies outside the data: the line may not continue there",
            {"at": outside},
            "measure there, or report it as an extrapolation",
        )
    ]
