"""Pairs that are a selection: only the extreme units of one side were measured again, or kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.message import Message
from iosonde.core.units import significant
from iosonde.core.verdict import VerdictState
from iosonde.core.words import counted
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, Comparison
from iosonde.stats.estimate.compare_words import called
from iosonde.stats.estimate.selection import Array, Selection, detect_selection
from iosonde.stats.overview.shared_bring_ups import Key

from .caveat import Caveat
from .cells import InCells
from .parts import DATA
from .samples import values_by_key


def selection_caveats(cells: InCells, comparison: Comparison, group: str, pair: Sequence[str]) -> Iterator[Caveat]:
    """Yield a caveat for each side whose paired units are extreme among its units. It overrides the claim if
    regression to the mean explains the change."""
    part, names = cells.pair.part, (cells.pair.a.name, cells.pair.b.name)
    values = [values_by_key(part, group, name, pair) for name in names]
    if comparison.ratio is not None:  # all pairs are above 0; what is not, and has no partner, has no logarithm
        values = [{key: float(np.log(value)) for key, value in side.items() if value > 0} for side in values]
    for own, other in ((0, 1), (1, 0)):
        paired, partners, unpaired = _split_by_partner(values[own], values[other])
        selection = detect_selection(paired, partners, unpaired)
        if selection is not None and abs(selection.regression) >= _get_margin(comparison):
            side = names[own] if group == DATA else called(names[own], group, part.units.get(group, ""))
            yield _build_caveat(selection, comparison, side, (paired, unpaired), is_of_b=own == 1)


def _split_by_partner(own: dict[Key, float], other: dict[Key, float]) -> tuple[Array, Array, Array]:
    """Return the values of a side with a partner, their partners, and the values without one."""
    common = [key for key in own if key in other]
    rest = [value for key, value in own.items() if key not in other]
    return np.array([own[key] for key in common]), np.array([other[key] for key in common]), np.array(rest)


def _get_margin(comparison: Comparison) -> float:
    """Return the margin of equality for differences of pairs."""
    return comparison.difference_margin if comparison.ratio is None else float(np.log1p(comparison.margin))


def _build_caveat(
    selection: Selection, comparison: Comparison, side: str, values: tuple[Array, Array], is_of_b: bool
) -> Caveat:
    paired, unpaired = values
    low, high = _get_interval(comparison)
    if is_of_b:  # the second value of a unit is then that of A
        low, high = -high, -low
    explained = comparison.verdict != CANNOT_TELL and selection.explains(low, high)
    means = [x.mean() if comparison.ratio is None else np.exp(x.mean()) for x in (paired, unpaired)]
    which = "lower" if selection.is_low else "higher"
    text = Message(
        "selected-pairs",
        "the {pairs} are a selection: those of {side} are {direction} than the {n_unpaired} without a partner "
        "({difference}), so that regression to the mean is in the change",
        pairs=counted(paired.size, "pair"),
        side=side,
        direction=which,
        n_unpaired=unpaired.size,
        difference=f"{' against '.join(map(significant, means))}, rank test p = {selection.p:.2g}",
    )
    effect = "may explain the change" if comparison.verdict == DIFFERENT else "may hide a change"
    template = "the pairs are the {direction} values of {side}, so that regression to the mean " + effect
    why = Message("selected-pairs", template, direction=which, side=side)
    return Caveat(text, "selected", VerdictState.INCONCLUSIVE if explained else None, why)


def _get_interval(comparison: Comparison) -> tuple[float, float]:
    """Return the decisive interval of the pairs' differences; of logarithms if a ratio decides."""
    low, high = comparison.decided.low, comparison.decided.high
    if low is None or high is None:
        return -np.inf, np.inf
    return (low, high) if comparison.ratio is None else (float(np.log(low)), float(np.log(high)))
