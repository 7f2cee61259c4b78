"""Facts of an emulated cluster, from the description that the lab leaves on its hosts."""

import json
import os
from pathlib import Path
from typing import Any

from iosonde.core.cpu_usage import parse_cpu_seconds

from . import reading

FILE = Path("/run/iosonde-lab.json")
_NO_TRUTH = ("hosts", "state", "cpu_usage")


def read_lab(file: Path | None = None) -> dict[str, Any] | None:
    """Return the lab's description without its hosts' names; None on a real machine. Only a file of root is trusted."""
    facts = _read_facts(file or FILE)
    return {key: value for key, value in facts.items() if key not in _NO_TRUTH} if facts else None


def read_lab_cpu_seconds(file: Path | None = None) -> float | None:
    """Return the CPU time of all hosts of the lab so far, including servers; None if it is not counted."""
    counted = (_read_facts(file or FILE) or {}).get("cpu_usage")
    return parse_cpu_seconds(reading.read_text(counted) or "") if counted else None


def _read_facts(file: Path) -> dict[str, Any] | None:
    content = reading.read_text(file)
    if content is None or file.stat().st_uid not in (0, os.geteuid()):
        return None
    return dict(json.loads(content))
