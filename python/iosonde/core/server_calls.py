"""The word of what servers counted in a phase."""

from __future__ import annotations

CALLS = "server_calls_per_operation"  # a metric: of each operation that the phase's rate counts
