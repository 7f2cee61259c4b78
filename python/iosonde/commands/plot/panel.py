"""Content of a panel of responses against a factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.stats.regression.slopes import AdjustedSlope


@dataclass(frozen=True)
class PanelSeries:
    """A response: its trials as (x, y), the mean of each level with its interval, and a fitted line (empty: none).
    ``said`` are the sentences about it. ``slope`` is that of the line, ``held`` the one with all other factors held;
    None if there is none."""

    name: str
    trials: Sequence[tuple[float, float]]
    means: Sequence[tuple[float, Estimate]]
    line: Sequence[tuple[float, float]]
    said: Sequence[str]
    slope: Estimate | None = None
    held: AdjustedSlope | None = None


@dataclass(frozen=True)
class FactorPanel:
    """A factor. ``ticks`` are its levels by place; ``logarithmic``: distances show ratios; ``named``: levels are
    ordered names, else numbers, of bytes with ``sizes``. Values are in ``unit`` after division by ``divisor``.
    ``label``: text of the axis (empty: the factor)."""

    factor: str
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool
    unit: str
    divisor: float
    series: Sequence[PanelSeries]
    named: bool = False
    sizes: bool = False
    label: str = ""
