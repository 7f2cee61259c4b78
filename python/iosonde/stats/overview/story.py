"""What a table of settings says in a sentence: the best and the worst of them, and which factor it belongs to.

The share of a factor is its sum of squares in a model without interactions, added last (type II), over the total; its
F test is against what trials of one setting differ by, or where each was tried once against what the model leaves
over. Of positive rates and times the logarithms are compared. All tests of a table hold together (Holm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import titled
from iosonde.core.estimate_text import estimate_text
from iosonde.core.headlines import metric_words
from iosonde.core.level_text import setting_text
from iosonde.core.metrics import metric_of
from iosonde.core.types import Better
from iosonde.core.units import percent

from ..estimate.distributions import f_upper_p
from ..estimate.multiple import holm
from .cells import TrialCell
from .types import OverviewRow

_SIZES = ("nodes", "ranks")
_MOST = 3  # responses that the sentence speaks of
_MOST_FACTORS = 4  # that are named
_LEAST_WITHIN = 3  # degrees of freedom within settings that an F test is made against


@dataclass(frozen=True)
class Share:
    """What a factor explains of a response: a fraction of its variation, and the p value of there being none."""

    factor: str
    share: float
    p: float


def story(
    rows: Sequence[OverviewRow], cells: Sequence[TrialCell], units: Mapping[str, str], level: float
) -> tuple[str, ...]:
    """One sentence for each of the first responses whose settings differ, one for all others; empty where nothing
    but the number of nodes varies."""
    responses = [
        (list(of_rows), [cell for cell in cells if (cell.operation, cell.metric) == key])
        for key, of_rows in groupby(rows, key=lambda row: (row.operation, row.metric))
    ]
    told = [(some, its) for some, its in responses if _varies(some)]
    if not told:
        return ()
    shares = [shares_of(its) for _, its in told]
    adjusted = iter(holm([one.p for several in shares for one in several]))
    known = [[(one, next(adjusted)) for one in several] for several in shares]
    said, unsure = [], []
    for (some, _), of in zip(told, known, strict=True):
        if _told(of, 1 - level):
            said.append(f"{_extremes(some, units)}; {_matters(of, 1 - level)}.")
        else:
            unsure.append(_title(some[0]))
    more = [f"{len(said) - _MOST} more: see the table."] if len(said) > _MOST else []
    return (*said[:_MOST], *more, *_unsure(unsure, told[0][0][0]))


def _varies(rows: Sequence[OverviewRow]) -> bool:
    """Whether there are two settings, and more than their number of nodes tells them apart."""
    rest = {tuple(value for name, value in row.by.items() if name not in _SIZES) for row in rows}
    return len(rest) > 1


def _extremes(rows: Sequence[OverviewRow], units: Mapping[str, str]) -> str:
    known = [row for row in rows if row.mean.value is not None]
    lower = metric_of(rows[0].metric, rows[0].unit).better is Better.LOWER
    ordered = sorted(known, key=lambda row: row.mean.value or 0.0, reverse=not lower)
    best, worst = ordered[0], ordered[-1]
    return (
        f"{_title(best)}: best {estimate_text(best.mean, best.unit)} at {setting_text(best.by, units)}, "
        f"worst {estimate_text(worst.mean, worst.unit)} at {setting_text(worst.by, units)}"
    )


def _title(row: OverviewRow) -> str:
    if not row.operation:
        return titled(row.metric, "")
    return f"{row.operation} {metric_words(row.metric)}"


def _told(shares: Sequence[tuple[Share, float | None]], alpha: float) -> list[Share]:
    """The factors whose effect is told from chance, the strongest first."""
    return sorted((one for one, p in shares if p is not None and p < alpha), key=lambda one: -one.share)


def _unsure(titles: Sequence[str], row: OverviewRow) -> list[str]:
    """Of which responses nothing can be told."""
    if not titles:
        return []
    more = f" and {len(titles) - _MOST} more" if len(titles) > _MOST else ""
    return [f"Of {', '.join(titles[:_MOST])}{more} no effect of {_any(list(row.by))} can be told from chance."]


def _any(factors: Sequence[str]) -> str:
    return " or ".join(factors) if len(factors) <= _MOST_FACTORS else f"any of {len(factors)} factors"


def _matters(shares: Sequence[tuple[Share, float | None]], alpha: float) -> str:
    told = _told(shares, alpha)
    first = f"{told[0].factor} matters{' most' if len(shares) > 1 else ''} ({percent(told[0].share)} of the variation)"
    rest = ", ".join(f"{one.factor} {percent(one.share)}" for one in told[1:])
    return f"{first}, then {rest}" if rest else first


def shares_of(cells: Sequence[TrialCell]) -> list[Share]:
    """What each factor explains of one response; without those that cannot be told from the others, and nothing where
    no trial is left over to tell anything against."""
    cells = [cell for cell in cells if not cell.within_run]
    values = [cell.values for cell in cells if cell.values.size]
    if len(values) < 2:
        return []
    y = np.concatenate(values)
    at = np.repeat(np.arange(len(values)), [one.size for one in values])
    y = np.log(y) if bool(np.all(y > 0)) else y
    coded = {name: _dummies([cell.by[name] for cell in cells if cell.values.size])[at] for name in cells[0].by}
    total = float(np.sum((y - y.mean()) ** 2))
    whole, rank = _left(y, list(coded.values()))
    error, df = _error(y, at, whole, rank)
    if df < 1 or total <= 0 or error <= 1e-12 * total:
        return []
    found = []
    for name in coded:
        without, lower = _left(y, [columns for other, columns in coded.items() if other != name])
        if rank > lower:
            gain = max(0.0, without - whole)
            f = gain / (rank - lower) / (error / df)
            found.append(Share(name, min(1.0, gain / total), f_upper_p(f, rank - lower, df)))
    return found


def _error(y: npt.NDArray[np.float64], at: npt.NDArray[np.intp], left: float, rank: int) -> tuple[float, int]:
    """(sum of squares, degrees of freedom) that effects are held against."""
    n_cells = int(at.max()) + 1
    means = np.bincount(at, y) / np.bincount(at)
    within, df = float(np.sum((y - means[at]) ** 2)), y.size - n_cells
    return (within, df) if df >= _LEAST_WITHIN else (left, y.size - rank)


def _dummies(levels: Sequence[object]) -> npt.NDArray[np.float64]:
    """A column of 0 and 1 for each level but the first."""
    names = list(dict.fromkeys(levels))
    return np.array([[float(level == name) for name in names[1:]] for level in levels]).reshape(len(levels), -1)


def _left(y: npt.NDArray[np.float64], parts: Sequence[npt.NDArray[np.float64]]) -> tuple[float, int]:
    """(what a least-squares fit leaves over, its rank)."""
    x = np.column_stack([np.ones(y.size), *parts])
    solution, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    return float(np.sum((y - x @ solution) ** 2)), int(rank)
