"""What an emulated cluster gives otherwise than was asked for, as the facts of its runs have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUSY = "the machine was busy when this was measured"


def off_rates(lab: Mapping[str, Any]) -> list[str]:
    """What was measured of links and disks and is not as asked for. A machine that was busy at the bring-up is none of
    it, though older stores list it there: how busy it was in a trial is measured in that trial."""
    warnings = (lab.get("emulated") or {}).get("warnings") or ()
    return [str(warning) for warning in warnings if not str(warning).startswith(BUSY)]
