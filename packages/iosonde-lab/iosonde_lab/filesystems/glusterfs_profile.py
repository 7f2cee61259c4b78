"""`gluster volume profile` as data: operations of each brick, and their durations.
Parses the text, as the XML does not tell whether latencies are in microseconds (older versions) or nanoseconds.
"""

import re
from collections.abc import Sequence

from iosonde_lab.hosts import LabHost
from iosonde_lab.profile import ProfiledOperation, ServerProfile, with_shares

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_BRICK = re.compile(r"^Brick: ([^:]+):", re.MULTILINE)
# share  mean unit  least unit  most unit  count  OPERATION
_ROW = re.compile(r"^ *[\d.]+" + r" +([\d.]+) (\w+)" * 3 + r" +(\d+) +(\w+)$", re.MULTILINE)
_TOTAL = re.compile(r"^ *(Duration|Data Read|Data Written): (\d+)", re.MULTILINE)


def profiles_from_text(text: str, servers: Sequence[LabHost]) -> tuple[ServerProfile, ...]:
    """Return the profile of every brick in `volume profile … info cumulative`."""
    names = {server.address: server.name for server in servers}
    _, *pieces = _BRICK.split(text)
    return tuple(
        _build_brick_profile(names.get(address, address), piece)
        for address, piece in zip(pieces[::2], pieces[1::2], strict=True)
    )


def _build_brick_profile(server: str, text: str) -> ServerProfile:
    totals = {name: int(value) for name, value in _TOTAL.findall(text)}
    operations = with_shares(_operation(*row) for row in _ROW.findall(text))
    return ServerProfile(
        server, float(totals.get("Duration", 0)), totals.get("Data Read", 0), totals.get("Data Written", 0), operations
    )


def _operation(*row: str) -> ProfiledOperation:
    mean, least, most = (float(value) * _SECONDS[unit] for value, unit in zip(row[:6:2], row[1:6:2], strict=True))
    return ProfiledOperation(row[7].lower(), int(row[6]), mean, least, most)
