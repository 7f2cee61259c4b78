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
