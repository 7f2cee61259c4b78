"""Many tests at once: p values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values (Scandinavian Journal of Statistics 6, 1979, 65-70); None stays None and does
    not count."""
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for done, (p, place) in enumerate(ranked):
        running = max(running, min(1.0, (len(ranked) - done) * p))
        adjusted[place] = running
    return adjusted


def discovered_up_to(p_values: Sequence[float], rate: float) -> float:
    """Up to which p value one is a discovery where the expected share of false ones is to be at most ``rate``
    (Benjamini & Hochberg, JRSS B 57, 1995, 289-300).

    It holds for tests that are independent or depend on each other positively (Benjamini & Yekutieli, Annals of
    Statistics 29, 2001, 1165-1188), as metrics of one system do. Where no null hypothesis is wrong, the chance of any
    discovery at all is at most ``rate``.
    """
    ordered = sorted(p_values)
    n_discoveries = max((k for k, p in enumerate(ordered, 1) if p <= rate * k / len(ordered)), default=1)
    return rate * n_discoveries / max(1, len(ordered))
