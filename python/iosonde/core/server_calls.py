"""The metric of calls that servers counted in a phase."""

from __future__ import annotations

CALLS = "server_calls_per_operation"  # per operation that the phase's rate counts
