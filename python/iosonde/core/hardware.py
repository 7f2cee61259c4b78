"""What a probe of the hardware is called in a store, and what carried the messages of a pair of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SOURCE = "iosonde probe"
# What a link carries in one direction is hardly less than what its other end and its interfaces count.
CROSSED_SHARE = 0.5
SHARED_MEMORY, NETWORK, UNSEEN = "shared memory", "network", "not seen on the network"


def medium(pair: Mapping[str, Any], node_of: Sequence[int]) -> str:
    """What carried the messages of a pair: the ranks share a host, the interfaces counted them, or they did not."""
    if node_of[pair["a"]] == node_of[pair["b"]]:
        return SHARED_MEMORY
    return NETWORK if pair["crossed_bytes"] >= CROSSED_SHARE * pair["sent_bytes"] else UNSEEN
