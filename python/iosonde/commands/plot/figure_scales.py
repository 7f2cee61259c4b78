"""Vertical axes of panels that are to be compared: one unit and one range per scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.units import human_scale
from iosonde.layout.vocabulary import decades

from .figure_bars import MOST_STRETCH
from .settings_plot import SettingPoint, SettingsPanel

_ROOM = 1.06  # of the highest value
WIDE = 60.0  # ratio of largest to smallest value beyond which the axis is logarithmic


@dataclass(frozen=True)
class PanelScale:
    """Axis of values in ``unit`` after division by ``divisor``, from ``low`` to ``high``; ``log`` if logarithmic."""

    divisor: float
    unit: str
    low: float
    high: float
    log: bool = False

    @property
    def ticks(self) -> list[float] | None:
        """Return round values for a logarithmic axis."""
        return [tick for tick in decades(self.low, self.high) if self.low <= tick <= self.high] if self.log else None


def scales_of(panels: Sequence[SettingsPanel], bars: bool) -> dict[str, PanelScale]:
    """Return scale → the axis of its panels. ``bars`` start at zero."""
    names = dict.fromkeys(panel.scale for panel in panels)
    return {name: _build_scale([panel for panel in panels if panel.scale == name], bars) for name in names}


def _build_scale(panels: Sequence[SettingsPanel], bars: bool) -> PanelScale:
    points = [point for panel in panels for point in panel.points]
    values = [value for point in points for value in (point.mean.value, *point.trials) if value is not None]
    means = [point.mean.value or 0.0 for point in points]
    divisor, unit = human_scale(max(map(abs, means), default=0.0), panels[0].unit)  # as in the table
    if not bars and values and min(values) > 0 and max(means) / min(means) > WIDE:
        return PanelScale(divisor, unit, min(values) / divisor / 1.3, max(values) / divisor * 1.3, True)
    low, high = min([0.0, *values]), max([0.0, *values])
    most = min(max([high, *_list_highs(points)]), MOST_STRETCH * high) if high > 0 else high
    return PanelScale(divisor, unit, low / divisor * _ROOM, (most or 1.0) / divisor * _ROOM)


def _list_highs(points: Sequence[SettingPoint]) -> list[float]:
    return [point.mean.high for point in points if point.mean.high is not None]
