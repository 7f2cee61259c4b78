"""Figures as Vega-Lite specifications in plain data: for the page, for notebooks and for files.
Each module turns the content of one kind of figure into a ``Figure``. ``vocabulary`` holds what all of them share
(axes, units, intervals, colours); ``files`` writes PNG, SVG and PDF. Field names are fixed. Text from data occurs only
in data, titles and domains, never in an expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import (  # noqa: F401, I001
        bars, bound, corpus, depth, diagnose, factors, figure, files, heatmap, importance, kinds, latency, over_time,
        path_study, regression, scaling, settings, timeline,
    )  # fmt: skip

__getattr__ = modules_of(__name__)
