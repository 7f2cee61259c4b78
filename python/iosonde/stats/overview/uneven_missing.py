"""Values missing more often at one setting than at the others: the remaining ones may be a biased sample."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.level_text import format_assignments
from iosonde.core.message import Message
from iosonde.core.metrics import is_speed
from iosonde.core.table import Table
from iosonde.core.types import Better, Metric
from iosonde.core.verdict import VerdictState

from ..assumptions.check import AssumptionCheck, doubtful, fails
from ..estimate.missing import compute_fisher_exact_p

_ALPHA = 0.05
_MOST_SETTINGS = 200  # more are not tested


def check_uneven_missing(missing: str) -> tuple[AssumptionCheck, ...]:
    """Return the check of a sentence of ``describe_uneven_missing``: it takes away every claim, or those of the factor
    whose level lacks more values, unless what lacks more values is the worse one anyway."""
    if not missing:
        return ()
    subject = get_lacking_factor(missing)
    if isinstance(missing, Message) and missing.values.get("confirms") is False:
        return (fails("missing-values", VerdictState.INCONCLUSIVE, missing, subject),)
    return (doubtful("missing-values", missing, subject),)


def get_lacking_factor(missing: str) -> tuple[str, ...]:
    """Return the factor whose level lacks more values; nothing if a setting of several factors does."""
    factor = missing.values.get("factor") if isinstance(missing, Message) else None
    return (str(factor),) if factor else ()


def describe_uneven_missing(
    table: Table, values: npt.NDArray[np.float64], by: Sequence[str], metric: Metric | None = None
) -> str:
    """Return a sentence on the setting that lacks more ``values`` than the others, by Fisher's test of each against the
    rest (Bonferroni), else on a level of one factor, tested as in a comparison of its levels; '' if none is
    significant. ``metric``: of the values."""
    missing = _describe_lacking_group(table, values, by, metric)
    factors = by if len(by) > 1 and not missing else ()
    levels = (
        _describe_lacking_group(table, values, [factor], metric, [name for name in by if name != factor])
        for factor in factors
    )
    return next((text for text in levels if text), missing)


def _describe_lacking_group(
    table: Table,
    values: npt.NDArray[np.float64],
    by: Sequence[str],
    metric: Metric | None,
    others: Sequence[str] = (),
) -> str:
    """Return the sentence on the group ``by`` that lacks more values, '' if none does; its values are compared with
    those of the other groups at the same levels of the ``others``."""
    gone = np.isnan(values)
    total = int(gone.sum())
    groups = list(table.groups(by)) if total and by else []
    if not 2 <= len(groups) <= _MOST_SETTINGS:
        return ""

    def p_of(rows: np.ndarray) -> float:
        here = int(gone[rows].sum())
        is_more = here * len(table) > total * rows.size  # than elsewhere
        return compute_fisher_exact_p(here, rows.size, total - here, len(table) - rows.size) if is_more else 1.0

    tests = len(groups) if len(groups) > 2 else 1  # with two settings both tests are the same
    p, key, rows = min(((p_of(rows), key, rows) for key, rows in groups), key=lambda each: each[0])
    if p * tests >= _ALPHA:
        return ""
    return Message(
        "missing-values",
        "{n_missing} of {n_values} values are missing at {setting}, more than elsewhere (Fisher's"
        " p = {p:.2g}): the others may be a biased sample",
        n_missing=int(gone[rows].sum()),
        n_values=rows.size,
        setting=", ".join(format_assignments(dict(zip(by, key, strict=True)), table.level_units(by))),
        p=min(1.0, p * tests),
        confirms=metric is not None
        and is_speed(metric)
        and _is_worse(_center_values(table, values, others), rows, metric),
        factor=by[0] if len(by) == 1 else "",
    )


def _center_values(table: Table, values: npt.NDArray[np.float64], others: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the values less the mean of each setting of the ``others``."""
    centered = values.copy()
    for _, rows in table.groups(others) if others else ():
        present = rows[~np.isnan(values[rows])]
        centered[present] -= values[present].mean() if present.size else 0.0
    return centered


def _is_worse(values: npt.NDArray[np.float64], rows: npt.NDArray[np.intp], metric: Metric) -> bool:
    """Return whether the mean of these rows is worse than that of the others."""
    here = np.isin(np.arange(values.size), rows)
    present = ~np.isnan(values)
    if not (here & present).any() or not (present & ~here).any():
        return False
    lower = float(values[here & present].mean()) < float(values[present & ~here].mean())
    return lower is not (metric.better is Better.LOWER)
