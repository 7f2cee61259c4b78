"""S311: trials of one bring-up treated as repetitions

What it says
    Some factors were set once for several trials (a lab's network or copies, a
    remounted file system). These trials share any random effect of that
    bring-up. The analysis treats every trial as independent. For these factors
    its intervals are too narrow and its p-values too small; the values are
    right.

How we know
    The column bring_up of a run identifies the trials of a bring-up. The
    factor is constant within each.

When it is wrong
    When bring-ups do not differ: iosonde anova prints the standard deviation
    of bring-ups with its interval.

What to do
    iosonde anova tests such factors against the error between bring-ups;
    iosonde compare --group FACTOR and iosonde summary --by FACTOR count
    bring-ups. Factors that change inside bring-ups are tested correctly here.
"""

from collections.abc import Sequence

from iosonde.core.arrays import Indices
from iosonde.core.table import Table
from iosonde.core.types import Finding, Severity
from iosonde.core.words import join_names

from ..regression import strata
from ..regression.types import BringUpFactors, FitSubject


def check_fit(subject: FitSubject) -> list[Finding]:
    """Report predictors that are set once for several trials."""
    return [] if subject.bring_up_factors is None else [build_finding(subject.bring_up_factors)]


def find_shared_factors(table: Table, names: Sequence[str]) -> BringUpFactors | None:
    """Return those of the columns ``names`` that are set once for several rows; None if there are none."""
    units = strata.list_nested_units(table)
    shared = tuple(name for name in names if name in table.columns and _is_shared(table, name, units))
    return BringUpFactors(shared, int(units[0].max()) + 1, len(table)) if shared else None


def build_finding(factors: BringUpFactors, where: str = "here: too sure of that") -> Finding:
    """Return the finding about an analysis of single trials on such factors. ``where`` completes its sentence."""
    return Finding(
        "S311",
        Severity.WARNING,
        f"{join_names(factors.names)} {'are' if len(factors.names) > 1 else 'is'} set once for several trials "
        f"({factors.n_trials} "
        f"in {factors.n_bring_ups} bring-ups), and each trial is taken for itself {where}",
        {"factors": list(factors.names), "n_bring_ups": factors.n_bring_ups, "n_trials": factors.n_trials},
        "iosonde anova tests it against the error between bring-ups",
    )


def _is_shared(table: Table, name: str, units: Sequence[Indices]) -> bool:
    codes, levels = table.column(name).codes()
    return len(levels) > 1 and strata.find_stratum_depth(codes[:, None].astype(float), units) < len(units)
