"""Deviations of an emulated cluster from its requested speeds, as stored in the facts of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUSY = "the machine was busy when this was measured"


def off_rates(lab: Mapping[str, Any]) -> list[str]:
    """Return warnings about links and disks whose measured speed differs from the requested one. A busy machine at
    bring-up is not reported, though older stores list it: each trial measures its own load."""
    warnings = (lab.get("emulated") or {}).get("warnings") or ()
    return [str(warning) for warning in warnings if not str(warning).startswith(BUSY)]
