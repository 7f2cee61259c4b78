"""S304: residuals depend on the run order

What it says
    Neighbouring rows have similar residuals, or the residuals drift over the
    rows: the rows are not independent, and the intervals are too narrow. Or
    residuals alternate from row to row: something changes with every second
    trial.

How we know
    The correlation of neighbours, compared with residuals of independent
    errors, whose mean and variance follow from the model (residuals of one
    setting sum to 0), and Mann-Kendall's test of the residuals. The smaller p,
    doubled, is compared with 1 %. The order is that of the rows.

When it is wrong
    When the rows were sorted by something other than time: then a missing
    factor or curvature looks like this.

What to do
    Keep the time order in the table, randomise the order of trials, and add a
    drift to the model (a time or block column).
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import FAMILY_ALPHA


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report autocorrelation and trend of the residuals."""
    assumptions = subject.assumptions
    if assumptions is None:
        return []
    drifts = assumptions.trend_p is not None and assumptions.trend_p < assumptions.autocorrelation_p
    alike = "are alike in" if assumptions.autocorrelation > 0 else "alternate between"
    how = "drift over the rows" if drifts else f"{alike} neighbouring rows"
    p = min(1.0, 2 * min(assumptions.autocorrelation_p, 1.0 if assumptions.trend_p is None else assumptions.trend_p))
    return (
        []
        if p >= FAMILY_ALPHA
        else [
            Finding(
                "S304",
                Severity.WARNING,
                f"the residuals depend on the order: they {how} "
                f"(neighbours correlate {assumptions.autocorrelation:+.2f}, p={p:.2g})",
                {
                    "autocorrelation": assumptions.autocorrelation,
                    "autocorrelation_p": assumptions.autocorrelation_p,
                    "trend_tau": assumptions.trend_tau,
                    "trend_p": assumptions.trend_p,
                },
                "randomise the order of trials, or add time or block to the model",
            )
        ]
    )
