"""Which factor of a figure goes along x, which is told by colour, which by panels.

The factor with most levels goes along x, the next one that colours can tell apart is coloured, the others make panels.
Nothing is averaged: where panels of a factor would hold a point each, as of a fraction or a Latin hypercube, it stays
over, and each point is one setting of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.factor_levels import NAMES, FactorLevels
from iosonde.core.table import Cell

HUES, SHADES = 6, 24  # levels that colours tell apart: of names, of what has an order
_LEAST, _FULL = 2.0, 0.6  # settings in a panel, on average; of those that it has room for


@dataclass(frozen=True)
class PlotRoles:
    """What was asked for: the factors along x, by colour, in panels; empty where it is left to us."""

    x: str = ""
    color: str = ""
    panel: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Every factor that was named."""
        return tuple(name for name in (self.x, self.color, *self.panel) if name)


@dataclass(frozen=True)
class PlotLayout:
    """``x`` and ``color`` are factors ('' for none), ``panels`` the factors of panels; ``rest`` are in none of them:
    each point is one setting of these."""

    x: str
    color: str
    panels: tuple[str, ...]
    rest: tuple[str, ...] = ()


def layout(
    levels: Mapping[str, FactorLevels],
    settings: Sequence[Mapping[str, Cell]],
    roles: PlotRoles,
    hues: int = HUES,
    shades: int = SHADES,
) -> PlotLayout:
    """The layout of these factors, of which ``settings`` occur. ``hues`` and ``shades``: as many levels of names, and
    of numbers, can be told by colour. Raises InputError for what cannot be."""
    if len(set(roles.factors)) < len(roles.factors):
        raise InputError(
            "conflicting-roles",
            "one factor has two roles",
            "name each factor once, with {spell.x}, {spell.color} or {spell.panel}",
        )
    if roles.color and len(levels[roles.color]) > shades:
        raise InputError(
            "too-many-levels",
            "{color} has {n_levels} levels, more than colours can tell apart",
            "name it with {spell.x} or {spell.panel}, or choose levels with {spell.where}",
            color=roles.color,
            n_levels=len(levels[roles.color]),
        )
    free = sorted(
        (factor_levels for factor_levels in levels.values() if factor_levels.factor not in roles.factors), key=_first
    )
    x = roles.x or (free.pop(0).factor if free else "")
    fits = (
        factor_levels.factor
        for factor_levels in free
        if len(factor_levels) <= (hues if factor_levels.kind == NAMES else shades)
    )
    color = roles.color or next(fits, "")
    panels: list[str] = list(roles.panel)
    rest: list[str] = []
    room = len(levels[x]) * (len(levels[color]) if color else 1) if x else 1
    for factor_levels in reversed([factor_levels for factor_levels in free if factor_levels.factor != color]):
        in_a_panel = _count(settings, list(levels)) / _count(settings, [*panels, factor_levels.factor])
        (panels if in_a_panel >= max(_LEAST, _FULL * room) else rest).append(factor_levels.factor)
    return PlotLayout(x, color, tuple(panels), tuple(rest))


def _first(factor_levels: FactorLevels) -> tuple[int, bool]:
    return -len(factor_levels), factor_levels.kind == NAMES


def _count(settings: Sequence[Mapping[str, Cell]], names: Sequence[str]) -> int:
    return len({tuple(setting[name] for name in names) for setting in settings})
