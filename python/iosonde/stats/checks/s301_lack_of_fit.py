"""S301: the line does not fit

What it says
    The means at the settings lie further from the fitted line than the repeats
    lie from each other: the relation is not straight (or an interaction is
    missing).

How we know
    The residual sum of squares is parted into pure error (between repeats of
    one setting) and lack of fit (Jain 1991; Draper & Smith). Their ratio is F;
    it is said where chance gives it less than once in a hundred. Without
    repeats the square of each predictor is tried beside the model.

When it is wrong
    With very many repeats a bend too small to matter becomes significant: look
    at the plot. Without repeats only a bend like that of a square is seen, and
    a single odd row at an end may look like one.

What to do
    Transform the predictor (log2(record)), add an interaction (a:b), take it
    by its levels (C(a)), or fit a smaller range.
"""

from __future__ import annotations

from collections.abc import Mapping

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import FAMILY_ALPHA

CODE = "S301"


def check_fit(subject: FitSubject) -> list[Finding]:
    """Lack of fit against pure error."""
    lack_of_fit = subject.assumptions.lack_of_fit if subject.assumptions else None
    if subject.assumptions and not subject.assumptions.repeats:
        return _report_curvature(subject.assumptions.curvature_p)
    if lack_of_fit is None or (lack_of_fit.p is not None and lack_of_fit.p >= FAMILY_ALPHA):
        return []
    against = ("the repeats are all the same, and a line misses them" if lack_of_fit.f is None or lack_of_fit.p is None
               else f"lack of fit against the repeats F={lack_of_fit.f:.3g}, p={lack_of_fit.p:.2g}")  # fmt: skip
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"the relation is not straight: {against}",
            vars(lack_of_fit),
            "transform a predictor, add an interaction, or take a predictor by its levels with C(…)",
        )
    ]


def _report_curvature(p_by_predictor: Mapping[str, float]) -> list[Finding]:
    """A bend where nothing was measured twice; the family is all predictors."""
    curved = {name: p for name, p in p_by_predictor.items() if p * len(p_by_predictor) < FAMILY_ALPHA}
    if not curved:
        return []
    name, p = min(curved.items(), key=lambda item: item[1])
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"the relation is not straight: it bends over {name} (its square, p={p:.2g})",
            {"curvature_p": curved},
            f"add {name} squared, transform it, or take it by its levels with C({name})",
        )
    ]
