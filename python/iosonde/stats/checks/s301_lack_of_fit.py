"""S301: lack of fit

What it says
    The means at the settings lie further from the fitted line than the repeats
    lie from each other: the relation is not straight (or an interaction is
    missing).

How we know
    The residual sum of squares is split into pure error (between repeats of
    one setting) and lack of fit (Jain 1991; Draper & Smith). Their ratio is F;
    it is reported at p < 0.01. Without repeats the square of each predictor is
    added to the model and tested.

When it is wrong
    With very many repeats a negligible curvature becomes significant: look at
    the plot. Without repeats only curvature like that of a square is detected,
    and a single outlier at an end may look like it.

What to do
    Transform the predictor (log2(record)), add an interaction (a:b), make it a
    factor (C(a)), or fit a smaller range.
"""

from collections.abc import Mapping

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import FAMILY_ALPHA


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report lack of fit against pure error."""
    lack_of_fit = subject.assumptions.lack_of_fit if subject.assumptions else None
    if subject.assumptions and not subject.assumptions.repeats:
        return _report_curvature(subject.assumptions.curvature_p)
    if lack_of_fit is None or (lack_of_fit.p is not None and lack_of_fit.p >= FAMILY_ALPHA):
        return []
    against = (
        "repeats are identical, and the line misses them"
        if lack_of_fit.f is None or lack_of_fit.p is None
        else f"lack of fit against the repeats F={lack_of_fit.f:.3g}, p={lack_of_fit.p:.2g}"
    )
    return [
        Finding(
            "S301",
            Severity.WARNING,
            f"the relation is not straight: {against}",
            vars(lack_of_fit),
            "transform a predictor, add an interaction, or make a predictor a factor with C(…)",
        )
    ]


def _report_curvature(p_by_predictor: Mapping[str, float]) -> list[Finding]:
    """Report curvature if there are no repeats; the family is all predictors."""
    curved = {name: p for name, p in p_by_predictor.items() if p * len(p_by_predictor) < FAMILY_ALPHA}
    if not curved:
        return []
    name, p = min(curved.items(), key=lambda item: item[1])
    return [
        Finding(
            "S301",
            Severity.WARNING,
            f"the relation is not straight: it is curved in {name} (its square, p={p:.2g})",
            {"curvature_p": curved},
            f"add {name} squared, transform it, or make it a factor with C({name})",
        )
    ]
