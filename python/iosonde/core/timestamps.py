"""Timestamps as stores and experiments write them."""

from datetime import UTC, datetime


def format_now() -> str:
    """Return the current UTC time, to the second: ``2026-11-01T12:00:00Z``."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
