"""S309: rows look like means

What it says
    Every setting occurs exactly once, as in a table of means. Regression on
    means gives the same slope (with equal repeats) but a false R²: averaging
    has hidden the spread between repeats.

How we know
    The predictors form a grid of few levels and no combination of them occurs
    twice; or there are at most 12 rows, all at different values.

When it is wrong
    When each setting was really measured only once. Then there is no pure
    error, and whether the line fits cannot be checked.

What to do
    Regress on the raw repeats. If only means are left, report that with R².
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report a grid on which no setting occurs twice."""
    assumptions = subject.assumptions
    if assumptions is None or not assumptions.design_like:
        return []
    return [
        Finding(
            "S309",
            Severity.WARNING,
            f"every setting occurs once: if these {subject.fit.n} rows are means of repeats, the slope is right and "
            f"R²={subject.fit.r2:.2f} is false",
            {"n": subject.fit.n, "r2": subject.fit.r2},
            "regress on the raw repeats",
        )
    ]
