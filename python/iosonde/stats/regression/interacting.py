"""Which factors take part in what the settings explain together.

A factor takes part if leaving it out loses anything beyond chance. So factors are left out one after the other, the
one that loses least first, until each of the others is significant by Holm's correction over those that remain
(backward elimination; Draper & Smith, Applied Regression Analysis, 3rd ed. 1998, ch. 15). Without the idle ones, the
test of the others has fewer degrees of freedom and finds smaller effects. Confounded factors are left out together.
"""

from collections.abc import Callable, Sequence

from ..estimate.multiple import adjust_by_holm

Unit = tuple[str, ...]


def select_active_units(
    units: Sequence[Unit], compute_p: Callable[[Unit, Sequence[Unit]], float | None], alpha: float
) -> tuple[Unit, ...]:
    """Return the ``units`` (factors, or blocks of confounded ones) without any of which something is lost.
    ``compute_p``: the p of losing nothing without a unit, of those that remain; None if that cannot be tested."""
    active = list(units)
    while active:
        others = [[other for other in active if other != unit] for unit in active]
        p_values = [compute_p(unit, rest) for unit, rest in zip(active, others, strict=True)]
        losses = [(p, place) for place, p in enumerate(adjust_by_holm(p_values)) if p is not None and p >= alpha]
        if not losses:
            break
        worst = max(losses, key=lambda loss: p_values[loss[1]] or 0.0)[1]
        del active[worst]
    return tuple(active)
