"""A figure by settings with made-up numbers: two metrics, sizes along x, one other factor by colour, one in panels."""

from __future__ import annotations

from iosonde.commands.plot.settings_plot import SettingPoint, SettingsPanel, SettingsPlot
from iosonde.core.factor_levels import NAMES, SIZES, FactorLevels
from iosonde.core.types import Estimate


def sample_plot(name: str, bars: bool = False) -> SettingsPlot:
    """With ``name`` wherever there is a text; ``bars``: of names along x."""
    texts = (name, f"{name} 2", "c")
    sizes = FactorLevels(name, name, "", SIZES, ("64k", "256k", "1m"), texts, (2.0**16, 2.0**18, 2.0**20))
    long = (*texts[:2], "so long that the bars lie, whatever the others are called")
    names = FactorLevels(name, name, name, NAMES, long, long)
    panels = tuple(
        SettingsPanel(name, f"fs={name} {fs}", metric, "bytes/s", metric, _points(name, fs + 2.0))
        for metric in ("bandwidth", name)
        for fs in range(2)
    )
    return SettingsPlot(name, names if bars else sizes, names, panels, 2, True, 0.95, (name,), (name,), (name,))


def _points(name: str, scale: float) -> tuple[SettingPoint, ...]:
    found = []
    for x in range(3):
        for color in range(3):
            value = scale * 1e8 * (x + 1) * (color + 1)
            mean = (
                Estimate(value, None, None, 0.95, 1)
                if x == color
                else Estimate(value, 0.9 * value, 1.1 * value, 0.95, 3)
            )
            found.append(SettingPoint(x, color, {name: x}, name, mean, (value,) * mean.n))
    return tuple(found)
