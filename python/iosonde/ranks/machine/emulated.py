"""Whether this node is a host of an emulated cluster, and what is true of it: the lab leaves its description there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from iosonde.core.cpu_usage import counted_cpu_seconds

from . import reading

FILE = Path("/run/iosonde-lab.json")
_NO_TRUTH = ("hosts", "state", "cpu_usage")


def lab(file: Path | None = None) -> dict[str, Any] | None:
    """What the lab says of itself, without its hosts' names; None on a real machine. Only root's word counts."""
    facts = _read_facts(file or FILE)
    return {key: value for key, value in facts.items() if key not in _NO_TRUTH} if facts else None


def cpu_seconds(file: Path | None = None) -> float | None:
    """CPU time that all hosts of the lab used together so far, servers among them; None where nobody counts it."""
    counted = (_read_facts(file or FILE) or {}).get("cpu_usage")
    return counted_cpu_seconds(reading.text(counted) or "") if counted else None


def _read_facts(file: Path) -> dict[str, Any] | None:
    content = reading.text(file)
    if content is None or file.stat().st_uid not in (0, os.geteuid()):
        return None
    facts: dict[str, Any] = json.loads(content)
    return facts
