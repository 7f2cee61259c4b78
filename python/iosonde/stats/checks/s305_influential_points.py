"""S305: influential points

What it says
    The fitted line would differ without a single row, or a row does not belong
    to the line at all, or a coefficient depends on one row alone.

How we know
    A row of leverage 1: without it a predictor does not vary. Else Cook's
    distance above the median of F(parameters, df) (Cook 1977), or an
    externally studentised residual that occurs by chance in less than one of a
    hundred tables (Bonferroni over all rows).

When it is wrong
    The only row at an extreme setting is influential by design.

What to do
    Look at that row's trial. Fit with and without it and show both; drop it
    only for a reason independent of its value.
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import format_some_names


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report leverage, Cook's distance and studentised residuals."""
    assumptions = subject.assumptions
    findings = _report_deciding(subject)
    if assumptions is None or not assumptions.influential_rows:
        return findings
    places = list(subject.influential) or [f"row {row + 1}" for row in assumptions.influential_rows]
    return [
        *findings,
        Finding(
            "S305",
            Severity.WARNING,
            f"single rows determine the line or do not belong to it: {format_some_names(places)}",
            {
                "rows": places,
                "largest_cook": assumptions.largest_cook,
                "cook_limit": assumptions.cook_limit,
                "largest_studentized": assumptions.largest_studentized,
                "studentized_p": assumptions.studentized_p,
            },
            "look at these trials; fit with and without them and show both",
        ),
    ]


def _report_deciding(subject: FitSubject) -> list[Finding]:
    if not subject.deciding:
        return []
    names = list(dict.fromkeys(name for several in subject.deciding.values() for name in several))
    rests = "rests" if len(names) == 1 else "rest"
    return [
        Finding(
            "S305",
            Severity.WARNING,
            f"{format_some_names(names)} {rests} on one row alone: {format_some_names(list(subject.deciding))}",
            {"rows": list(subject.deciding), "terms": names, "leverage": 1.0},
            "measure more trials there; the error of a single trial is unknown",
        )
    ]
