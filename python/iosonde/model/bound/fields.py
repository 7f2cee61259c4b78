"""The fields of a System as people write them: with units, each read by its own reader."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_per_byte, parse_rate, parse_seconds, parse_size


def count(text: str) -> float:
    """A finite number. Raises InputError."""
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no number", "write it like 4") from error
    if not math.isfinite(value):
        raise InputError(f"'{text}' is no finite number", "write it like 4")
    return value


def whole(text: str) -> int:
    """A whole number of things. Raises InputError."""
    value = count(text)
    if value != int(value):
        raise InputError(f"'{text}' is no whole number", "write it like 4")
    return int(value)


def _size(text: str) -> float:
    return float(parse_size(text))


READERS: dict[str, Callable[[str], Any]] = {
    "clients": whole, "servers": whole, "disks": whole, "network": parse_rate, "client_network": parse_rate,
    "server_network": parse_rate, "fabric": parse_rate, "disk": parse_rate, "disk_read": parse_rate,
    "disk_write": parse_rate, "cpu": parse_per_byte, "server_cpu": parse_per_byte, "memory_copy": parse_rate,
    "copies": count, "latency": parse_seconds, "request_size": _size, "queue_depth": count, "metadata_rate": count,
    "metadata_operations": count, "file_size": _size, "replicas": whole, "chunk_size": _size, "stripe_count": whole,
    "files": whole,
}  # fmt: skip
