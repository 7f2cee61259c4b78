"""Options that describe a system on the command line, on the page and in Python: option → field and parser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .errors import InputError
from .units import parse_per_byte, parse_rate, parse_seconds, parse_size


class SystemWord(NamedTuple):
    """An option of a system: ``field`` of a System; ``read`` parses a text into base units; ``metavar`` and ``help``
    are for ``--help``."""

    field: str
    read: Callable[[str], float]
    metavar: str
    help: str


def count(text: str) -> float:
    """Parse a finite number. Raises InputError."""
    try:
        value = float(text)
    except ValueError as error:
        raise InputError("not-a-number", "'{number}' is not a number", "write it like 4", number=text) from error
    if not math.isfinite(value):
        raise InputError("not-finite", "'{number}' is not a finite number", "write it like 4", number=text)
    return value


def parse_integer(text: str) -> int:
    """Parse a whole number. Raises InputError."""
    value = count(text)
    if value != int(value):
        raise InputError("not-an-integer", "'{number}' is not a whole number", "write it like 4", number=text)
    return int(value)


def size(text: str) -> float:
    """Parse bytes. Raises InputError."""
    return float(parse_size(text))


OPTIONS: dict[str, SystemWord] = {
    flag: SystemWord(*word)
    for flag, word in {
        "--clients": ("clients", parse_integer, "N", "Clients [default: 1; a store's nodes]."),
        "--servers": ("servers", parse_integer, "M", "Servers that hold data [default: 1]."),
        "--disks": ("disks", parse_integer, "P", "Disks of all servers together."),
        "--net": ("network", parse_rate, "I", "One link of a client and of a server: 117MB/s, 1Gbit/s."),
        "--client-net": ("client_network", parse_rate, "I", "One client's link, if different."),
        "--server-net": ("server_network", parse_rate, "I", "One server's link, if different."),
        "--fabric": ("fabric", parse_rate, "F", "Capacity of all links together (bisection)."),
        "--disk": ("disk", parse_rate, "R", "One disk."),
        "--disk-read": ("disk_read", parse_rate, "R", "One disk for reads."),
        "--disk-write": ("disk_write", parse_rate, "R", "One disk for writes."),
        "--cpu": ("cpu", parse_per_byte, "C", "CPU time of a client for the data: 0.02s/MB."),
        "--server-cpu": ("server_cpu", parse_per_byte, "C", "CPU time of a server for the data."),
        "--memory-copy": ("memory_copy", parse_rate, "B", "Memory copy rate of a client."),
        "--copies": ("copies", count, "K", "Number of times a client copies each byte [default: 1]."),
        "--latency": ("latency", parse_seconds, "L", "Latency of one request, such as 2ms; with `request`."),
        "--request": ("request_size", size, "SIZE", "Size of one request, such as 64KiB."),
        "--queue-depth": ("queue_depth", count, "Q", "Outstanding requests per client [default: 1]."),
        "--metadata-rate": ("metadata_rate", count, "K", "Operations/s of all metadata servers; with `file_size`."),
        "--metadata-operations": ("metadata_operations", count, "O", "Metadata operations per file [default: 1]."),
        "--file-size": ("file_size", size, "SIZE", "One file's size."),
        "--replicas": (
            "replicas",
            parse_integer,
            "R",
            "Copies of everything; with `redundancy` [default: client].",
        ),
        "--chunk": ("chunk_size", size, "SIZE", "One chunk of an erasure code."),
        "--stripe": ("stripe_count", parse_integer, "S", "Number of servers per file."),
        "--files": ("files", parse_integer, "F", "Files in use at once, for `stripe` [default: one per client]."),
    }.items()
}
FLAGS = {word.field: flag for flag, word in OPTIONS.items()}
READS = {word.field: word.read for word in OPTIONS.values()}
