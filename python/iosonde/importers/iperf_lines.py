"""The lines that iperf2 and iperf3 share: ``[  1] 0.0000-2.0117 sec  3.47 GBytes  14.8 Gbits/sec``.

Bytes are in steps of 1024 (``GBytes`` = 2^30), bits in steps of 1000 (``Gbits`` = 10^9), in both tools.
"""

import re
from typing import NamedTuple

from iosonde.core.message import Message

from .parsed import Row
from .reading import BINARY, DECIMAL, parse_number

_LINE = re.compile(
    r"\[\s*\*?(\d+|SUM)(?:-\d+)?\](?:\[(\w+-\w+)\])?\s+(\d+\.\d+)\s*-\s*(\d+\.\d+)\s+sec\s+([\d.]+)\s+([KMGTP]?)Bytes\s+([\d.]+)\s+"
    r"([KMGTP]?)(bits|Bytes)/sec(.*)$"
)
_JITTER = re.compile(r"\s+([\d.]+)\s+ms\s+(\d+)/\s*(\d+)")
READING = Message("assumed-unit", "bits were read in steps of 1000 and Bytes in steps of 1024, as iperf counts")


class Interval(NamedTuple):
    """A line: stream (None: the sum), begin and end in s, bytes moved, bytes/s, the rest, and ``TX-C``."""

    stream: int | None
    begin: float
    end: float
    size: float
    bandwidth: float
    rest: str
    jitter: float | None
    lost: int | None
    datagrams: int | None
    role: str


def build_volume_rows(at: int, operation: str, metric: str, interval: Interval, rank: int | None) -> list[Row]:
    """Return the bandwidth, bytes and time of a line."""
    return [
        Row(operation, metric, interval.bandwidth, "bytes/s", at, rank),
        Row(operation, "bytes", interval.size, "bytes", at, rank),
        Row(operation, "time", interval.end - interval.begin, "s", at, rank),
    ]


def build_datagram_rows(at: int, operation: str, interval: Interval, rank: int | None) -> list[Row]:
    """Return what the receiver of UDP prints in a line."""
    return [
        Row(operation, "jitter", interval.jitter or 0, "s", at, rank),
        Row(operation, "lost", interval.lost or 0, "datagrams", at, rank),
        Row(operation, "datagrams", interval.datagrams or 0, "datagrams", at, rank),
    ]


def parse_interval(line: str) -> Interval | None:
    """Return the Interval in ``line``, None if there is none."""
    if not (match := _LINE.match(line.strip())):
        return None
    stream, role, begin, end, size, size_prefix, rate, prefix, what, rest = match.groups()
    amount, speed = parse_number(size), parse_number(rate)
    if amount is None or speed is None:
        return None
    datagrams = _JITTER.match(rest)
    return Interval(
        None if stream == "SUM" else int(stream[:9]),
        float(begin),
        float(end),
        amount * BINARY[size_prefix.lower()],
        speed * (DECIMAL[prefix.lower()] / 8 if what == "bits" else BINARY[prefix.lower()]),
        rest,
        float(datagrams.group(1)) / 1e3 if datagrams and parse_number(datagrams.group(1)) is not None else None,
        int(datagrams.group(2)[:18]) if datagrams else None,
        int(datagrams.group(3)[:18]) if datagrams else None,
        role or "",
    )
