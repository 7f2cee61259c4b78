"""Figures of ``iosonde plot`` beyond those of the page: metrics by settings, by factors, totals by node count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import drawn, factors, layout, over_time, percentiles, settings, totals  # noqa: F401

__getattr__ = modules_of(__name__)
