"""Many tests at once: p values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values (Scandinavian Journal of Statistics 6, 1979, 65-70); None stays None and does
    not count."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for done, (p, place) in enumerate(known):
        running = max(running, min(1.0, (len(known) - done) * p))
        adjusted[place] = running
    return adjusted


def largest_discovery(p_values: Sequence[float], rate: float) -> float:
    """The largest p value that is a discovery where the expected share of false ones is to be at most ``rate``
    (Benjamini & Hochberg, JRSS B 57, 1995, 289-300); 0 where there is none.

    It holds for tests that are independent or depend on each other positively (Benjamini & Yekutieli, Annals of
    Statistics 29, 2001, 1165-1188), as metrics of one system do. Where no null hypothesis is wrong, the chance of any
    discovery at all is at most ``rate``.
    """
    ordered = sorted(p_values)
    return max((p for k, p in enumerate(ordered, 1) if p <= rate * k / len(ordered)), default=0.0)
