"""Calls that the servers counted in each phase: what they had counted after it, less what they had before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iosonde.core.faults import BEGUN, ENDED
from iosonde.core.server_calls import CALLS
from iosonde.core.types import Observation
from iosonde.measure import spool


def count_calls(folder: Path, phase: int) -> dict[str, int] | None:
    """Kind → calls on all servers; None where they were not asked, or did not answer both times."""
    before, after = (_read_counts(spool.server_counts_of(folder, phase, when)) for when in (BEGUN, ENDED))
    if before is None or after is None or before - after:  # set back meanwhile
        return None
    return dict(sorted((after - before).items()))


def rows(entry: Mapping[str, Any], repetition: int) -> list[Observation]:
    """Calls for each operation that the phase's rate counts; 0 where a client's cache answered all of them."""
    calls, counted = entry.get("server_calls"), entry["totals"].get(entry["counted_kind"], {}).get("count")
    if calls is None or not counted:
        return []
    return [Observation(entry["operation"], CALLS, sum(calls.values()) / counted, "calls", None, repetition)]


def _read_counts(file: Path) -> Counter[str] | None:
    try:
        servers = list(json.loads(file.read_text())["servers"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    counts: Counter[str] = Counter()
    for each in (operation for server in servers for operation in server["operations"]):
        counts[each["operation"]] += int(each["count"])
    return counts
