"""S307: little is explained

What it says
    The predictors explain less than half of the variation of the response. A
    line through such data suggests a law that does not exist.

How we know
    R² is below 0.5, or the F test is not significant at the requested level.

When it is wrong
    Where only the size of a coefficient matters, a small R² with many rows can
    still give a narrow interval.

What to do
    Show R² with the line, name possible causes of the rest, look for the
    missing factor.
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject

LEAST = 0.5


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report a low R² or a F test that is not significant."""
    fit = subject.fit
    if fit.f_p is not None and fit.f_p > 1 - subject.level:
        sentence = f"no effect is significant (F={fit.f:.3g}, p={fit.f_p:.2g}); R²={fit.r2:.2f}"
    elif fit.r2 < LEAST:
        sentence = f"the predictors explain only {100 * fit.r2:.0f} % of the variation"
    else:
        return []
    return [
        Finding(
            "S307",
            Severity.WARNING,
            sentence,
            {"r2": fit.r2, "adj_r2": fit.adjusted_r2, "f": fit.f, "f_p": fit.f_p},
            "look for the missing factor before quoting the line",
        )
    ]
