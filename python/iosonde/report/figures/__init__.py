"""Each figure described once, as a Vega-Lite specification in plain data: for the page, for notebooks, for files.

One file for each kind of figure takes the content that is drawn and gives a ``Figure``. ``vocabulary`` has what they
share (axes, units, intervals, colours), ``files`` makes PNG, SVG and PDF. Names of fields are fixed and ours; text
from data stands only in data, titles and domains, never in an expression.
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
