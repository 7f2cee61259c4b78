"""What a table of settings says in a sentence: the best and the worst of them, and which factor it belongs to.

The share of a factor is that of ``anova`` without interactions: its sum of squares, added last (type II), over the
total, which in a balanced design is S1 of ``rank``. Its interval and its F test are against what trials of one setting
differ by, or where that has few degrees of freedom against what the model leaves over; where trials share bring-ups,
against the error of its stratum. All tests of a table hold together (Holm).
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
from iosonde.core.types import Better, Estimate
from iosonde.core.units import percent
from iosonde.core.words import listed

from ..estimate.distributions import f_upper_p
from ..estimate.multiple import holm
from ..estimate.variance_share import LEAST_DF, SumOfSquares, Variation
from ..regression import strata
from .cells import TrialCell
from .types import OverviewRow

_SIZES = ("nodes", "ranks")
_MOST = 3  # responses that the sentence speaks of
_MOST_FACTORS = 4  # that are named
_NOTHING = 1e-12  # of the variation: a noise that is rounding
_SEEN = 0.05  # a share worth a word where it has no test


@dataclass(frozen=True)
class Share:
    """What a factor explains of a response: a fraction of its variation, and the p value of there being none;
    None where nothing is there to hold it against: it is set once for several trials, and no error between these."""

    factor: str
    explained: Estimate
    p: float | None

    @property
    def share(self) -> float:
        """The fraction."""
        return self.explained.value or 0.0

    @property
    def text(self) -> str:
        """``85 % (71–92 %)``, ``2.5 % (1.9–3.3 %)``."""
        low, high = self.explained.low, self.explained.high
        places = 1 if self.share < 0.1 else 0
        fine = 1 if low is not None and 0 < low < 0.01 else places  # what is not 0 is not shown as 0
        between = "" if low is None or high is None else f" ({100 * low:.{fine}f}–{100 * high:.{places}f} %)"
        return f"{percent(self.share)}{between}"


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
    shares = [shares_of(its, level) for _, its in told]
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
    """The factors whose effect is told from chance, the strongest first: by the test, and by the share's interval,
    which stands beside it and would else hold 0 (it has half of alpha below it)."""
    told = (one for one, p in shares if p is not None and p < alpha and one.explained.low != 0)
    return sorted(told, key=lambda one: -one.share)


def _unsure(titles: Sequence[str], row: OverviewRow) -> list[str]:
    """Of which responses nothing can be told."""
    if not titles:
        return []
    more = f" and {len(titles) - _MOST} more" if len(titles) > _MOST else ""
    return [f"Of {', '.join(titles[:_MOST])}{more} no effect of {_any(list(row.by))} can be told from chance."]


def _any(factors: Sequence[str]) -> str:
    return " or ".join(factors) if len(factors) <= _MOST_FACTORS else f"any of {len(factors)} factors"


def _matters(shares: Sequence[tuple[Share, float | None]], alpha: float) -> str:
    """The factor that matters most, with those whose intervals reach as far up, then the others."""
    told = _told(shares, alpha)
    low = told[0].explained.low
    first = [one for one in told if low is not None and (one.explained.high or 0.0) >= low] or told[:1]
    open_ = [one for one, p in shares if p is None]
    most = not open_ and (len(shares) > len(first) or len(first) > 1)
    verb = f"matter{'' if len(first) > 1 else 's'}{' most' if most else ''}"
    said = f"{listed([one.factor for one in first])} {verb}: {listed([one.text for one in first])} of the variation"
    rest = ", ".join(f"{one.factor} {one.text}" for one in told[len(first) :])
    said += f", then {rest}" if rest else ""
    return f"{said}; {_open(open_)}" if open_ else said


def _open(untold: Sequence[Share]) -> str:
    """What of the factors without a test explains most, as far as that is seen."""
    ordered = sorted(untold, key=lambda one: -one.share)
    names = [f"{one.factor} ({percent(one.share)})" for one in ordered if one.share >= _SEEN][:_MOST_FACTORS]
    if not names:
        return f"{_any([one.factor for one in ordered])} cannot be told from what differs between bring-ups"
    return f"{listed(names)} cannot be told from what differs between bring-ups: more repetitions would"


def shares_of(cells: Sequence[TrialCell], level: float) -> list[Share]:
    """What each factor explains of one response; without those that cannot be told from the others, and nothing where
    no trial is left over to tell anything against."""
    cells = [cell for cell in cells if not cell.within_run]
    values = [cell.values for cell in cells if cell.values.size]
    if len(values) < 2:
        return []
    y = np.concatenate(values)
    at = np.repeat(np.arange(len(values)), [one.size for one in values])
    coded = {name: _dummies([cell.by[name] for cell in cells if cell.values.size])[at] for name in cells[0].by}
    total = float(np.sum((y - y.mean()) ** 2))
    shared = [cell.bring_ups for cell in cells if cell.values.size and cell.bring_ups is not None]
    if len(shared) == len(values):
        return _in_strata(y, coded, np.concatenate(shared), total, level)
    whole, rank = _left(y, list(coded.values()))
    noise = _noise(y, at, SumOfSquares(whole, y.size - rank))
    if noise.df < 1 or total <= 0 or _by_luck(noise, total):
        return []
    noise = SumOfSquares(max(noise.ss, _NOTHING * total), noise.df)
    found = []
    for name in coded:
        without, lower = _left(y, [columns for other, columns in coded.items() if other != name])
        if rank > lower:
            effect = SumOfSquares(max(0.0, without - whole), rank - lower)
            f = effect.ss / effect.df / (noise.ss / noise.df)
            explained = Variation(total, noise, y.size).explained_by(effect, level)
            found.append(Share(name, explained, f_upper_p(f, effect.df, noise.df)))
    return found


def _in_strata(
    y: npt.NDArray[np.float64], coded: Mapping[str, npt.NDArray[np.float64]], shared: npt.NDArray[np.intp],
    total: float, level: float,
) -> list[Share]:  # fmt: skip
    """The same where trials share bring-ups: what is set once for several is held against the error between bring-ups,
    and has no test where there is none."""
    x = np.column_stack([np.ones(y.size), *coded.values()])
    units = strata.of_units(list(shared.T))
    made = strata.strata(y, x, units, level) if total > 0 else None
    if made is None or _by_luck(made.within.error, total):
        return []
    whole, rank = _left(y, list(coded.values()))
    found = []
    for name, columns in coded.items():
        others = [one for other, one in coded.items() if other != name]
        without, lower = _left(y, others)
        if rank <= lower:  # of one level, or told by the others
            continue
        depth = made.depth(columns)
        test = made.test(np.column_stack([np.ones(y.size), *others]), columns, depth)
        if test is None:
            alone = max(0.0, without - whole) / total
            found.append(Share(name, Estimate(alone, None, None, level, y.size), None))
        else:
            effect = SumOfSquares(max(0.0, without - whole), rank - lower)
            explained = Variation(total, made.strata[depth].error, y.size).explained_by(effect, level)
            found.append(Share(name, explained, test.p))
    return found


def _by_luck(noise: SumOfSquares, total: float) -> bool:
    """Whether there is no noise, and too little to say so: a few counts may be alike by chance, many are exact."""
    return noise.ss <= _NOTHING * total and noise.df < LEAST_DF


def _noise(y: npt.NDArray[np.float64], at: npt.NDArray[np.intp], left: SumOfSquares) -> SumOfSquares:
    """What effects are held against: the trials of each setting, or where these are few what the model ``left``."""
    means = np.bincount(at, y) / np.bincount(at)
    df = y.size - (int(at.max()) + 1)
    return SumOfSquares(float(np.sum((y - means[at]) ** 2)), df) if df >= LEAST_DF else left


def _dummies(levels: Sequence[object]) -> npt.NDArray[np.float64]:
    """A column of 0 and 1 for each level but the first."""
    names = list(dict.fromkeys(levels))
    return np.array([[float(level == name) for name in names[1:]] for level in levels]).reshape(len(levels), -1)


def _left(y: npt.NDArray[np.float64], parts: Sequence[npt.NDArray[np.float64]]) -> tuple[float, int]:
    """(what a least-squares fit leaves over, its rank)."""
    x = np.column_stack([np.ones(y.size), *parts])
    solution, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    return float(np.sum((y - x @ solution) ** 2)), int(rank)
