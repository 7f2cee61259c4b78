"""The page: one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import page  # noqa: F401

__getattr__ = modules_of(__name__)
