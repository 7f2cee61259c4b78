"""Text, figures and HTML page: lay out answers, compute nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import as_tool, cluster_plot, figures, fit_plots, page, text  # noqa: F401

__getattr__ = modules_of(__name__)
