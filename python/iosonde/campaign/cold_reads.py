"""Check for reads from a cold cache: a client with a cache of its own must then be remounted."""

from __future__ import annotations

from iosonde.measure.spec import CLIENTS_ANEW

from .document import document
from .request import Request

__all__ = ["CLIENTS_ANEW", "needs_cache_regime"]


def needs_cache_regime(request: Request) -> bool:
    """Return whether a native workload reads cold without a command ``before_reads``. Raises InputError for an
    unreadable file."""
    data = document(request).data
    regime = data.get("cache")
    if isinstance(regime, dict) and "before_reads" in regime:
        return False
    steps = data.get("steps")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return any("workload" in step and step.get("cache") != "warm" for step in steps)
