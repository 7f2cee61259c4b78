"""Multiple tests: p-values adjusted for a family of tests."""

from collections.abc import Sequence


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
