"""S310: a line through two values

What it says
    A numeric predictor has only two distinct values. Any two points lie on a
    line: linearity is assumed, not tested.

How we know
    By counting.

When it is wrong
    When the predictor is a switch (0 and 1), for which linearity means
    nothing.

What to do
    Measure at least one value between them.
"""

import numpy as np

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report predictors with two values other than 0 and 1."""
    fit = subject.fit
    if fit.x is None:
        return []
    predictors = []
    for place, name in enumerate(fit.names[1:], 1):
        column = fit.x[:, place]
        low, high = column.min(), column.max()
        if (low, high) != (0.0, 1.0) and ":" not in name and np.all((column == low) | (column == high)):
            predictors.append(name)
    return (
        [
            Finding(
                "S310",
                Severity.INFO,
                f"{', '.join(predictors)} has only two values: linearity cannot be checked",
                {"predictors": predictors},
                "measure a value between them",
            )
        ]
        if predictors
        else []
    )
