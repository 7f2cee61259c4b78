"""The analytic ceiling: its inputs and where each is from, its cells, what was lost to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import answer, application, cells, inputs, lab_truth, probed, shared_files, tools, waterfall, words  # noqa: F401

__getattr__ = modules_of(__name__)
