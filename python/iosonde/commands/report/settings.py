"""Figure at the top of a page: every metric by the settings that varied, as ``iosonde plot`` draws it."""

from __future__ import annotations

from iosonde.commands.plot.settings import settings_plot
from iosonde.commands.plot.settings_plot import SettingsPlot
from iosonde.core.errors import IosondeError
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source


def settings_of(source: Source, query: ResponseQuery) -> SettingsPlot | None:
    """Return the figure, or None if there is nothing to draw: the sections below say why."""
    try:
        return settings_plot(source, query)
    except IosondeError:
        return None
