"""Calls that the servers counted in each phase: the counters after it minus those before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iosonde.core.faults import BEGUN, ENDED
from iosonde.core.types import Observation
from iosonde.core.wire import CALLS
from iosonde.measure import spool


def count_calls(folder: Path, phase: int) -> dict[str, int] | None:
    """Return kind → calls on all servers; None if they were not queried, or did not answer both times."""
    before, after = (_read_counts(spool.server_counts_of(folder, phase, when)) for when in (BEGUN, ENDED))
    if before is None or after is None or before - after:  # a counter was reset in between
        return None
    return dict(sorted((after - before).items()))


def rows(entry: Mapping[str, Any], repetition: int) -> list[Observation]:
    """Return the calls per operation of the phase's rate; 0 if a client's cache served all of them."""
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
