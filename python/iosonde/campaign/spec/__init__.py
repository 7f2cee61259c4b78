"""Experiment files: their form, checks beyond the schema, and conversion to a ``measure.spec.Spec`` and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import lab, schema  # noqa: F401

__getattr__ = modules_of(__name__)
