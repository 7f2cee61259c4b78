"""Whether a campaign reads what no client is to have: then a client with a cache of its own must be mounted anew."""

from __future__ import annotations

from iosonde.measure.spec import CLIENTS_ANEW

from .document import document
from .request import Request

__all__ = ["CLIENTS_ANEW", "needs_cache_regime"]


def needs_cache_regime(request: Request) -> bool:
    """Whether a native workload is to read cold, and nothing is said of what to do before it reads (``before_reads``).
    Raises InputError for what cannot be read."""
    data = document(request).data
    regime = data.get("cache")
    if isinstance(regime, dict) and "before_reads" in regime:
        return False
    steps = data.get("steps")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return any("workload" in step and step.get("cache") != "warm" for step in steps)
