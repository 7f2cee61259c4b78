"""Kinds of figures, and their layout: which factor goes along x, which by colour, which by panel. The factor with most
levels goes along x; the next one that colours can separate is coloured; the others make panels. Nothing is averaged. If
panels of a factor would hold a point each, as in a fraction or a Latin hypercube, the factor has no place, and each
point is one setting of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.factor_levels import NAMES, FactorLevels
from iosonde.core.table import Cell

BY_SETTINGS = ("settings", "heatmap", "percentiles")
OVER_TIME = "time"
OF_PAGE = ("bars", "latency", "timeline")
PAGE = "page"  # all of OF_PAGE
FACTORS = "factors"


HUES, SHADES = 6, 24  # levels that colours can separate: of names, of ordered values
_LEAST, _FULL = 2.0, 0.6  # mean settings in a panel; share of those that it has room for


@dataclass(frozen=True)
class PlotRoles:
    """The requested factors along x, by colour, in panels; empty for automatic choice."""

    x: str = ""
    color: str = ""
    panel: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Return every named factor."""
        return tuple(name for name in (self.x, self.color, *self.panel) if name)


@dataclass(frozen=True)
class PlotLayout:
    """Layout: ``x`` and ``color`` are factors ('' for none), ``panels`` the factors of panels; ``rest`` has the others:
    each point is one setting of these."""

    x: str
    color: str
    panels: tuple[str, ...]
    rest: tuple[str, ...] = ()


def lay_out_factors(
    levels: Mapping[str, FactorLevels],
    settings: Sequence[Mapping[str, Cell]],
    roles: PlotRoles,
    hues: int = HUES,
    shades: int = SHADES,
) -> PlotLayout:
    """Lay out these factors, in which ``settings`` occur. ``hues`` and ``shades``: the numbers of levels, of names and
    of numbers, that colours can separate. Raises InputError for an impossible layout."""
    if len(set(roles.factors)) < len(roles.factors):
        raise InputError(
            "conflicting-roles",
            "one factor has two roles",
            "name each factor once, with {spell.x}, {spell.color} or {spell.panel}",
        )
    if roles.color and len(levels[roles.color]) > shades:
        raise InputError(
            "too-many-levels",
            "{color} has {n_levels} levels, more than colours can show",
            "name it with {spell.x} or {spell.panel}, or choose levels with {spell.where}",
            color=roles.color,
            n_levels=len(levels[roles.color]),
        )
    free = sorted(
        (factor_levels for factor_levels in levels.values() if factor_levels.factor not in roles.factors),
        key=lambda each: (-len(each), each.kind == NAMES),
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
        in_a_panel = _count_settings(settings, list(levels)) / _count_settings(
            settings, [*panels, factor_levels.factor]
        )
        (panels if in_a_panel >= max(_LEAST, _FULL * room) else rest).append(factor_levels.factor)
    return PlotLayout(x, color, tuple(panels), tuple(rest))


def _count_settings(settings: Sequence[Mapping[str, Cell]], names: Sequence[str]) -> int:
    return len({tuple(setting[name] for name in names) for setting in settings})
