"""IOzone's units, old and new: ``KB/sec``, ``kB/sec``, ``Kbytes/sec``, ``kBytes/sec``, ``ops/sec``, …"""

from __future__ import annotations

from typing import NamedTuple

from iosonde.core.message import Message


class Unit(NamedTuple):
    """An IOzone unit in our units, and how it was read."""

    quantity: str
    base: str
    factor: float
    reading: str = ""


_READING = Message("assumed-unit", "kB/sec was read as 1024 bytes/s, as iozone counts in every version")
_BYTES = Unit("bandwidth", "bytes/s", 1024.0, _READING)


def unit_of(words: str) -> Unit | None:
    """Return the Unit of ``kBytes/sec``, ``ops/sec``, ``microseconds/op`` and the like; None if unknown."""
    compact = words.strip(" .").lower().replace(" ", "")
    if compact in ("kb/sec", "kbytes/sec", "kbyte/sec", "kb/s", "kbytes/s"):
        return _BYTES
    if compact in ("mb/sec", "mbytes/sec", "mb/s"):
        reading = Message("assumed-unit", "MB/sec was read as 1048576 bytes/s")
        return Unit("bandwidth", "bytes/s", 1024.0**2, reading)
    if compact in ("ops/sec", "operationspersecond", "ops/s"):
        return Unit("rate", "operations/s", 1.0)
    if compact in ("microseconds/op", "usec/op", "microsecondsperoperation", "microsec/op"):
        return Unit("latency_mean", "s", 1e-6)
    return None
