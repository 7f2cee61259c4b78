"""Options that describe a system on the command line, on the page and in Python: option → field and parser."""

import math
from collections.abc import Callable
from typing import NamedTuple

from .errors import InputError
from .units import parse_link_rate, parse_per_byte, parse_rate, parse_seconds, parse_size


class SystemWord(NamedTuple):
    """An option of a system: ``field`` of a System; ``read`` parses a text into base units; ``metavar``, ``help``
    and ``default_text`` are for ``--help``."""

    field: str
    read: Callable[[str], float]
    metavar: str
    help: str
    default_text: str = ""


def parse_count(text: str) -> float:
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
    value = parse_count(text)
    if value != int(value):
        raise InputError("not-an-integer", "'{number}' is not a whole number", "write it like 4", number=text)
    return int(value)


def parse_bytes(text: str) -> float:
    """Parse bytes. Raises InputError."""
    return float(parse_size(text))


OPTIONS: dict[str, SystemWord] = {
    "--clients": SystemWord("clients", parse_integer, "N", "Clients.", "1; a store's nodes"),
    "--servers": SystemWord("servers", parse_integer, "M", "Servers that hold data.", "1"),
    "--disks": SystemWord("disks", parse_integer, "P", "Disks of all servers together."),
    "--net": SystemWord("network", parse_link_rate, "I", "One link of a client and of a server: 117MB/s, 1Gbit/s."),
    "--client-net": SystemWord("client_network", parse_link_rate, "I", "One client's link, if different."),
    "--server-net": SystemWord("server_network", parse_link_rate, "I", "One server's link, if different."),
    "--fabric": SystemWord("fabric", parse_link_rate, "F", "Capacity of all links together (bisection)."),
    "--disk": SystemWord("disk", parse_rate, "R", "One disk."),
    "--disk-read": SystemWord("disk_read", parse_rate, "R", "One disk for reads."),
    "--disk-write": SystemWord("disk_write", parse_rate, "R", "One disk for writes."),
    "--cpu": SystemWord("cpu", parse_per_byte, "C", "CPU time of a client for the data: 0.02s/MB."),
    "--server-cpu": SystemWord("server_cpu", parse_per_byte, "C", "CPU time of a server for the data."),
    "--memory-copy": SystemWord("memory_copy", parse_rate, "B", "Memory copy rate of a client."),
    "--copies": SystemWord("copies", parse_count, "K", "Number of times a client copies each byte.", "1"),
    "--latency": SystemWord("latency", parse_seconds, "L", "Latency of one request, such as 2ms; with `request`."),
    "--request": SystemWord("request_size", parse_bytes, "SIZE", "Size of one request, such as 64KiB."),
    "--queue-depth": SystemWord("queue_depth", parse_count, "Q", "Outstanding requests per client.", "1"),
    "--metadata-rate": SystemWord(
        "metadata_rate", parse_count, "K", "Operations/s of all metadata servers; with `file_size`."
    ),
    "--metadata-operations": SystemWord("metadata_operations", parse_count, "O", "Metadata operations per file.", "1"),
    "--file-size": SystemWord("file_size", parse_bytes, "SIZE", "One file's size."),
    "--replicas": SystemWord("replicas", parse_integer, "R", "Copies of everything; with `redundancy`."),
    "--chunk": SystemWord("chunk_size", parse_bytes, "SIZE", "One chunk of an erasure code."),
    "--stripe": SystemWord("stripe_count", parse_integer, "S", "Number of servers per file."),
    "--files": SystemWord("files", parse_integer, "F", "Files in use at once, for `stripe`.", "one per client"),
}
FLAGS = {word.field: flag for flag, word in OPTIONS.items()}
READS = {word.field: word.read for word in OPTIONS.values()}
