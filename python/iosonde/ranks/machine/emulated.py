"""Whether this node is a host of an emulated cluster, and what is true of it: the lab leaves its description there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import reading

FILE = Path("/run/iosonde-lab.json")


def lab(file: Path | None = None) -> dict[str, Any] | None:
    """What the lab says of itself, without its hosts' names; None on a real machine. Only root's word counts."""
    file = file or FILE
    content = reading.text(file)
    if content is None or file.stat().st_uid not in (0, os.geteuid()):
        return None
    told = json.loads(content)
    return {key: value for key, value in told.items() if key not in ("hosts", "state")}
