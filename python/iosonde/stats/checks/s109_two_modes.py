"""S109: two modes

What it says
    The trials of a cell fall into two or more groups. Their mean is then a
    value that the system never shows.

How we know
    The best split of the sorted trials explains more of their sum of squares
    (Engelman & Hartigan 1969) than it does for even a flat unimodal population
    in one of a hundred tables. This holds for the values and for their logs.
    Each group holds at least a fifth of the trials. Below 10 trials two modes
    cannot be detected.

    Above 100 trials of positive values, the hills of their density on a
    logarithmic axis are counted instead (iosonde diagnose). The valley between
    two hills must be deeper than chance makes it. Two hills must hold a
    twentieth of the trials each; smaller ones are listed with them.

When it is wrong
    When a slow drift makes the first half of the trials differ from the
    second: then S103 is reported, too.

What to do
    Find the factor that switches (which server, which path, NUMA, cache hit or
    miss, power state) and make it a factor, or report both groups with their
    shares instead of one mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_significant
from iosonde.core.words import join_names

from ..density import histogram
from ..density.hills import detect_hills
from ..estimate.modes import detect_two_modes
from ..overview.cells import TrialCell
from . import FAMILY_ALPHA, MAX_LISTED, Subject

MANY = 100  # trials above which hills are counted
_LARGE = 0.05  # share of a hill that is not a group of outliers
_NUMBERS = ("two", "three", "four", "five", "six")


@dataclass(frozen=True)
class _Groups:
    """(mean, trials) of each group, the lowest first; ``p`` for two tested groups, else None."""

    groups: tuple[tuple[float, int], ...]
    p: float | None = None


def check(subject: Subject) -> list[Finding]:
    """Report cells whose trials fall into groups."""
    split_cells = [*_find_two_modes(subject), *_find_several_modes(subject)]
    if not split_cells:
        return []
    cell, split = split_cells[0]
    more = f" (and in {len(split_cells) - 1} more cells)" if len(split_cells) > 1 else ""
    count = len(split.groups)
    many = _NUMBERS[count - 2] if count - 2 < len(_NUMBERS) else str(count)
    first, *others = split.groups
    around = join_names(
        [f"{format_significant(first[0])} ({first[1]} trials)", *(f"{format_significant(m)} ({n})" for m, n in others)]
    )
    return [
        Finding(
            "S109",
            Severity.WARNING,
            f"the trials of {cell.name} fall into {many} groups around {around}{more}",
            {"cells": {trial_cell.name: _build_evidence(groups) for trial_cell, groups in split_cells[:MAX_LISTED]}},
            "find what switches and make it a factor, or report both groups",
        )
    ]


def _find_two_modes(subject: Subject) -> list[tuple[TrialCell, _Groups]]:
    """Find two groups by the best split, for few trials or values that are not all positive."""
    tested = [(cell, detect_two_modes(cell.values)) for cell in subject.repeated if not _is_countable(cell)]
    splits = [(cell, split) for cell, split in tested if split is not None]
    return [
        (cell, _Groups(((split.low_mean, split.n_low), (split.high_mean, cell.values.size - split.n_low)), split.p))
        for cell, split in splits
        if split.p < max(FAMILY_ALPHA / len(splits), 1 / 10_000)
    ]


def _find_several_modes(subject: Subject) -> Iterator[tuple[TrialCell, _Groups]]:
    for cell in subject.repeated:
        log_histogram = histogram.histogram_from_values(cell.values) if _is_countable(cell) else None
        if log_histogram is None or log_histogram.counts.size < 2:
            continue
        of = np.searchsorted(detect_hills(log_histogram).valleys, cell.values)
        sizes = np.bincount(of)
        if (sizes >= _LARGE * cell.values.size).sum() > 1:
            groups = [(float(cell.values[of == place].mean()), int(n)) for place, n in enumerate(sizes) if n]
            yield (cell, _Groups(tuple(groups)))


def _is_countable(cell: TrialCell) -> bool:
    return cell.values.size > MANY and bool((cell.values > 0).all())


def _build_evidence(split: _Groups) -> dict[str, object]:
    (low, n_low), (high, _) = split.groups[0], split.groups[-1]
    return {
        "low_mean": low,
        "high_mean": high,
        "n_low": n_low,
        "p": split.p,
        "groups": [{"mean": mean, "n": n} for mean, n in split.groups],
    }
