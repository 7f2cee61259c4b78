"""Is B different from A: the sides, the cells, all operations together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import (  # noqa: F401
        answer,
        asked,
        caveat,
        cells,
        compared,
        confounding,
        covariates,
        missing,
        order,
        overall,
        own_caveats,
        parts,
        samples,
        selected,
        two,
    )

__getattr__ = modules_of(__name__)
