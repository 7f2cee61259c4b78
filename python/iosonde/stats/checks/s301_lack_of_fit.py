"""S301: the line does not fit

What it says
    The means at the settings lie further from the fitted line than the repeats
    lie from each other: the relation is not straight (or an interaction is
    missing).

How we know
    The residual sum of squares is parted into pure error (between repeats of
    one setting) and lack of fit (Jain 1991; Draper & Smith). Their ratio is F;
    it is said where chance gives it less than once in a hundred.

When it is wrong
    With very many repeats a bend too small to matter becomes significant: look
    at the plot. Without repeats it cannot be known, and nothing is said.

What to do
    Transform the predictor (log2(record)), add an interaction (a:b), take it
    by its levels (C(a)), or fit a smaller range.
"""

from __future__ import annotations

from iosonde.core.types import Finding, Severity

from ..regression.types import FitSubject
from . import FAMILY_ALPHA

CODE = "S301"


def check_fit(subject: FitSubject) -> list[Finding]:
    """Lack of fit against pure error."""
    found = subject.assumptions.lack_of_fit if subject.assumptions else None
    if found is None or (found.p is not None and found.p >= FAMILY_ALPHA):
        return []
    against = ("the repeats are all the same, and a line misses them" if found.f is None or found.p is None
               else f"lack of fit against the repeats F={found.f:.3g}, p={found.p:.2g}")  # fmt: skip
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"the relation is not straight: {against}",
            vars(found),
            "transform a predictor, add an interaction, or take a predictor by its levels with C(…)",
        )
    ]
