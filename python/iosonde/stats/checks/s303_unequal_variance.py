"""S303: unequal variance

What it says
    The residuals spread more in one place than in another (often: the larger
    the value, the larger its spread). Coefficients are still unbiased; their
    standard errors, intervals and p-values are wrong.

How we know
    Breusch and Pagan's test in Koenker's studentised form, and Brown and
    Forsythe's over settings with at least 3 repeats; the smaller p, doubled,
    is compared with 1 %.

When it is wrong
    A missing curvature can look like it: see S301 first.

What to do
    Use robust standard errors ({spell.robust}, HC3), or the log of the response.
"""

from iosonde.core.message import spell
from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import FAMILY_ALPHA


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report unequal variance, unless robust errors are used already."""
    assumptions = subject.assumptions
    if assumptions is None or subject.fit.robust:
        return []
    p_values = [p for p in (assumptions.breusch_pagan_p, assumptions.brown_forsythe_p) if p is not None]
    p = min(1.0, len(p_values) * min(p_values))
    return (
        []
        if p >= FAMILY_ALPHA
        else [
            Finding(
                "S303",
                Severity.WARNING,
                f"the residuals have unequal variance (p={p:.2g}): standard errors are wrong",
                {"breusch_pagan_p": assumptions.breusch_pagan_p, "brown_forsythe_p": assumptions.brown_forsythe_p},
                f"use {spell.robust}, or the log of the response",
            )
        ]
    )
