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
    """Return the check of a sentence of ``describe_uneven_missing``: it takes away every claim, unless the setting that
    lacks more values is the worse one anyway."""
    if not missing:
        return ()
    if isinstance(missing, Message) and missing.values.get("confirms") is False:
        return (fails("missing-values", VerdictState.INCONCLUSIVE, missing),)
    return (doubtful("missing-values", missing),)


def describe_uneven_missing(
    table: Table, values: npt.NDArray[np.float64], by: Sequence[str], metric: Metric | None = None
) -> str:
    """Return a sentence on the setting that lacks more ``values`` than the others, by Fisher's test of each against the
    rest (Bonferroni); '' if none is significant. ``metric``: of the values."""
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
        confirms=metric is not None and is_speed(metric) and _is_worse(values, rows, metric),
    )


def _is_worse(values: npt.NDArray[np.float64], rows: npt.NDArray[np.intp], metric: Metric) -> bool:
    """Return whether the mean of these rows is worse than that of the others."""
    here = np.isin(np.arange(values.size), rows)
    present = ~np.isnan(values)
    if not (here & present).any() or not (present & ~here).any():
        return False
    lower = float(values[here & present].mean()) < float(values[present & ~here].mean())
    return lower is not (metric.better is Better.LOWER)
