"""S306: collinear predictors

What it says
    Some predictors vary together, so that their effects can hardly be
    separated: coefficients are uncertain and may have the wrong sign, though
    predictions inside the data are good.

How we know
    The variance inflation factor of a predictor, 1/(1 - R²) on the others, is
    above 10.

When it is wrong
    A predictor is always correlated with its own square or interaction; then
    the factor is no defect of the design.

What to do
    Leave one of them out, centre before squaring, or measure settings where
    they differ.
"""

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject

LIMIT = 10.0


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report variance inflation of each predictor; interactions and dummies of one factor are left out."""
    if subject.assumptions is None:
        return []
    high = {name: v for name, v in subject.assumptions.vif.items() if v > LIMIT and ":" not in name and "[" not in name}
    if len(high) < 2:
        return []
    listing = ", ".join(
        f"{name} ({factor:.3g})" for name, factor in sorted(high.items(), key=lambda item: -item[1])[:4]
    )
    return [
        Finding(
            "S306",
            Severity.WARNING,
            f"predictors are collinear, their effects can hardly be separated (variance inflation): {listing}",
            {"vif": high, "condition_number": subject.assumptions.condition_number},
            "leave one out, or measure settings where they differ",
        )
    ]
