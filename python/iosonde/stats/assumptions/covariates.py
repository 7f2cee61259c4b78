"""Numbers that were not set, such as a measurement before: does one differ between the levels of a factor, too?"""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.message import Message
from iosonde.core.table import Table

from ..estimate.distributions import f_upper_p
from .check import AssumptionCheck, doubtful
from .units import compute_mean_squares

ALPHA = 0.01  # over all candidates
CODE = "covariate-differs"


def check_covariates(rows: Table, columns: Sequence[str], candidates: Sequence[str]) -> Iterator[AssumptionCheck]:
    """Yield a doubt for each of the ``columns`` between whose levels a number of ``candidates`` differs: it may explain
    the effect (Lord, Psychological Bulletin 68, 1967, 304-305)."""
    for column in columns:
        for name in candidates:
            p = compute_covariate_p(rows, column, name)
            if p * len(candidates) < ALPHA:
                template = (
                    "{covariate} differs between the levels of {column}, too (p = {p:.2g}): "
                    "{spell.roles:'{covariate}=covariate'} holds it"
                )
                yield doubtful("varies-besides", Message(CODE, template, covariate=name, column=column, p=p), (column,))


def list_covariate_warnings(checks: Sequence[AssumptionCheck]) -> list[str]:
    """Return the reasons of these checks that are about covariates."""
    return [check.why for check in checks if isinstance(check.why, Message) and check.why.code == CODE]


def compute_covariate_p(rows: Table, column: str, name: str) -> float:
    """Return the p-value of equal means of a number at all levels, by a one-way analysis of variance."""
    values = rows.numbers(name)
    present = np.flatnonzero(~np.isnan(values) & ~rows.column(column).missing)
    levels, values = rows.take(present).number_groups([column]), values[present]
    n_levels = int(levels.max(initial=-1)) + 1
    if n_levels < 2 or 2 * n_levels > values.size:
        return 1.0
    df = (n_levels - 1, values.size - n_levels)
    between, within = compute_mean_squares(values, np.zeros_like(levels), levels, df)
    return f_upper_p(between / within, *df) if within > 0 else float(between <= 0)
