"""`ceph tell DAEMON perf dump` as data: operations of each OSD and the metadata server, and their mean durations.
Ceph keeps only sums: minimum and maximum latencies are unknown.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from iosonde_lab.lab import Lab
from iosonde_lab.profile import ProfiledOperation, ServerProfile, with_shares

MDS = "mds.m"
_SINCE = "ceph-counted-since"
# Counter of an OSD → operation, of clients or passed on by another OSD.
_OF_OSD = {
    "op_r_latency": "read",
    "op_w_latency": "write",
    "op_rw_latency": "read and write",
    "subop_w_latency": "copy from another OSD",
}
_REQUEST, _LATENCY = "req_", "_latency"


def osds(lab: Lab) -> list[str]:
    """Return the names of the OSDs, by server."""
    return [f"osd.{number}" for number in range(len(lab.servers))]


def begin(lab: Lab) -> None:
    """Record that all counters are zero now."""
    (lab.directory / _SINCE).write_text(repr(time.time()))


def seconds(lab: Lab) -> float:
    """Return the seconds since then, or since bring-up if counters were never reset."""
    since = lab.directory / _SINCE
    with suppress(OSError, ValueError):
        return time.time() - float(since.read_text())
    return time.time() - (lab.directory / "ceph.conf").stat().st_mtime


def build_osd_profile(server: str, dump: Mapping[str, Any], seconds: float) -> ServerProfile:
    """Build the profile of one OSD. Bytes are those of clients, without copies from other OSDs."""
    counters = dump["osd"]
    operations = [_operation(name, counters[key]) for key, name in _OF_OSD.items() if key in counters]
    return ServerProfile(
        server,
        seconds,
        int(counters["op_out_bytes"]),
        int(counters["op_in_bytes"]),
        with_shares(operation for operation in operations if operation.count),
    )


def build_mds_profile(server: str, dump: Mapping[str, Any], seconds: float) -> ServerProfile:
    """Build the profile of the metadata server: requests of clients such as create, getattr, unlink."""
    operations = [
        _operation(key.removeprefix(_REQUEST).removesuffix(_LATENCY), value)
        for key, value in dump["mds_server"].items()
        if key.startswith(_REQUEST) and key.endswith(_LATENCY)
    ]
    return ServerProfile(
        server, seconds, 0, 0, with_shares(operation for operation in operations if operation.count), holds_data=False
    )


def _operation(name: str, counter: Mapping[str, float]) -> ProfiledOperation:
    count = int(counter["avgcount"])
    return ProfiledOperation(name, count, counter["sum"] / count if count else 0.0, None, None)
