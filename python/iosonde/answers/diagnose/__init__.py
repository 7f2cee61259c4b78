"""Why operations were slow: classes of their times, the causes, the experiment that would decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import answer, confirm, large, names, path, table, trials  # noqa: F401

__getattr__ = modules_of(__name__)
