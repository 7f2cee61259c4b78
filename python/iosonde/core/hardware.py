"""The source name of hardware probes in a store, and the medium of messages between two ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

SOURCE = "iosonde probe"
# The bytes on a link are at least this share of those sent: counters of the other end and of interfaces differ
# slightly.
CROSSED_SHARE = 0.5
SHARED_MEMORY, NETWORK, UNSEEN = "shared memory", "network", "not seen on the network"


def classify_medium(pair: Mapping[str, Any], node_of: Sequence[int]) -> str:
    """Return the medium of a pair: shared memory on one host, the network if the interfaces counted the bytes, else
    unseen."""
    if node_of[pair["a"]] == node_of[pair["b"]]:
        return SHARED_MEMORY
    return NETWORK if pair["crossed_bytes"] >= CROSSED_SHARE * pair["sent_bytes"] else UNSEEN
