"""Multiple tests: p-values adjusted for a family of tests."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.column_units import is_rate

_BYTES = "bytes/s"
# Tools round their rates; a bandwidth ÷ its rate is then constant within these limits, and to a tenth of its spread.
_MAX_RANGE, _MAX_SD = 0.02, 0.002

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def adjust_by_holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979, 65-70); None stays None and does not
    count."""
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for done, (p, place) in enumerate(ranked):
        running = max(running, min(1.0, (len(ranked) - done) * p))
        adjusted[place] = running
    return adjusted


def adjust_by_yekutieli(p_values: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p-values: those of at most r are discoveries at a false discovery rate of at most r, however the
    tests depend on each other (Benjamini & Yekutieli, Annals of Statistics 29, 2001, 1165-1188). Correlations of pairs
    that share a member depend with either sign, which Benjamini & Hochberg's rate does not allow. None stays None and
    does not count."""
    ranked = sorted(((p, place) for place, p in enumerate(p_values) if p is not None), reverse=True)
    adjusted: list[float | None] = [None] * len(p_values)
    size, running = len(ranked), 1.0
    harmonic = compute_harmonic_sum(size)
    for after, (p, place) in enumerate(ranked):
        running = min(running, p * harmonic * size / (size - after))
        adjusted[place] = running
    return adjusted


def compute_harmonic_sum(size: int) -> float:
    """Return 1 + 1/2 + … + 1/``size``: a false discovery rate ÷ it holds for any dependence among ``size`` tests."""
    return sum(1 / k for k in range(1, size + 1))


def is_same_evidence(units: tuple[str, str], a: Array, b: Array) -> bool:
    """Return whether two responses of one operation, trial by trial, are a bandwidth and a rate at one size: one is the
    other times a constant, so that a test of both is one test."""
    rates = all(map(is_rate, units)) and (units[0] == _BYTES) != (units[1] == _BYTES)
    if not rates or a.shape != b.shape or a.size < 2 or not (min(a.min(), b.min()) > 0):
        return False
    logs = np.log(a), np.log(b)
    constant = logs[0] - logs[1]
    sd = min(float(np.std(values)) for values in logs)
    return bool(np.ptp(constant) <= _MAX_RANGE and np.std(constant) <= max(_MAX_SD, sd / 10))


def correct_distinct(
    items: Sequence[ItemT], repeated: Mapping[int, int], correct: Callable[[list[ItemT]], Sequence[ResultT]]
) -> list[ResultT]:
    """Correct a family in which some items are the same evidence as another (place → place of the other): each is
    corrected in the place of that one, and does not count again."""
    distinct = [place for place in range(len(items)) if place not in repeated]
    results = dict(zip(distinct, correct([items[place] for place in distinct]), strict=True))
    for place, other in repeated.items():
        substituted = [items[place if unique == other else unique] for unique in distinct]
        results[place] = correct(substituted)[distinct.index(other)]
    return [results[place] for place in range(len(items))]


def correct_headlines_apart(
    items: Sequence[ItemT],
    repeated: Mapping[int, int],
    n_headlines: int,
    correct: Callable[[list[ItemT]], Sequence[ResultT]],
) -> list[ResultT]:
    """Correct the first ``n_headlines`` items as one family, and the others with all of them: what is examined besides
    the headlines does not change these. ``repeated`` as in ``correct_distinct``; an item that repeats a headline is
    corrected as that one."""
    results = correct_distinct(items, repeated, correct)
    first = [place for place in range(len(items)) if repeated.get(place, place) < n_headlines]
    if not first or len(first) == len(items):
        return results
    numbers = {place: number for number, place in enumerate(first)}
    own = {numbers[place]: numbers[other] for place, other in repeated.items() if place in numbers}
    for place, result in zip(first, correct_distinct([items[at] for at in first], own, correct), strict=True):
        results[place] = result
    return results


def find_discovery_p_limit(p_values: Sequence[float], rate: float) -> float:
    """Return the p-value up to which a test is a discovery at a false discovery rate of at most ``rate`` (Benjamini &
    Hochberg, JRSS B 57, 1995, 289-300).

    It holds for tests that are independent or positively dependent (Benjamini & Yekutieli, Annals of Statistics 29,
    2001, 1165-1188), such as metrics of one system. If all null hypotheses are true, the probability of any discovery
    is at most ``rate``.
    """
    ordered = sorted(p_values)
    n_discoveries = max((k for k, p in enumerate(ordered, 1) if p <= rate * k / len(ordered)), default=1)
    return rate * n_discoveries / max(1, len(ordered))
