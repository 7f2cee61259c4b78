"""Content of a tree of files, from a sample: measured, reported again, planned, simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import (  # noqa: F401
        answer,
        content,
        estimate,
        page,
        plan,
        ranks,
        reading,
        run,
        sample,
        simulate,
        stop,
        stored,
        strata,
        walk,
        what_if,
    )

__getattr__ = modules_of(__name__)
