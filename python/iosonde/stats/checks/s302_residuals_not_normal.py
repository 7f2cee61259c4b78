"""S302: residuals are not normal

What it says
    The residuals are not normally distributed: long tails, skew, or several
    groups. Intervals of single observations depend on normality most, those of
    coefficients least.

How we know
    Shapiro and Wilk's test at 1 %, up to 5000 rows; beyond, the straightness
    of the Q-Q plot (a correlation below 0.99).

When it is wrong
    With thousands of rows negligible departures become significant; look at
    the Q-Q plot.

What to do
    Take the log of the response if the residuals are skewed, look for a
    missing factor if they fall into groups, and trust the interval of a single
    new observation only roughly.
"""

from iosonde.core.types import Finding, Severity

from ..estimate.normality import MOST
from ..regression.types import FitSubject
from . import FAMILY_ALPHA

LEAST_CORRELATION = 0.99


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report residuals that are not normal."""
    assumptions = subject.assumptions
    if assumptions is None:
        return []
    large = assumptions.shapiro_p is None and assumptions.qq_correlation < LEAST_CORRELATION and subject.fit.n > MOST
    if not large and (assumptions.shapiro_p is None or assumptions.shapiro_p >= FAMILY_ALPHA):
        return []
    test_text = (
        f"W={assumptions.shapiro_w:.3f}, p={assumptions.shapiro_p:.2g}"
        if assumptions.shapiro_p is not None
        else "Q-Q plot not straight"
    )
    return [
        Finding(
            "S302",
            Severity.WARNING,
            f"the residuals are not normal ({test_text}): the interval of a single observation is only rough",
            {
                "shapiro_w": assumptions.shapiro_w,
                "shapiro_p": assumptions.shapiro_p,
                "qq_correlation": assumptions.qq_correlation,
            },
            "look at the Q-Q plot; try the log of the response, look for a missing factor",
        )
    ]
