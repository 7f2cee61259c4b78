"""The page about a store or a table: one module for each of its sections, their types in ``content``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import advice, experiment, of_store  # noqa: F401

__getattr__ = modules_of(__name__)
