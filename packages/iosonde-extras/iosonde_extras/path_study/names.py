"""Names in the study of I/O paths: where data is, the direction of access, and the name of a cell.

Names are those of Kunkel, "Analysis of Input/Output Phenomena using Statistics and Machine Learning" (2017):
``C-seq-stride8,8 R`` is a read of cached data, walking through memory, 8 MiB ± 8 MiB apart in the file.
"""

from collections.abc import Mapping
from typing import Any

WORKLOAD = "path-study"
OPERATION = "access"
READ, WRITE = "read", "write"
# States of the accessed data: no data (/dev/zero, /dev/null); in this node's cache; verified not to be there. States of
# writes: the first write of this data, or a rewrite with the data in the cache.
DISCARD, CACHED, UNCACHED, FIRST, AGAIN = STATES = ("discard", "cached", "uncached", "first", "again")
READ_STATES = (DISCARD, CACHED, UNCACHED)
WRITE_STATES = (DISCARD, UNCACHED, FIRST, AGAIN)
FACTORS = ("state", "direction", "memory", "place", "access_size")

_LETTERS = {DISCARD: "D", CACHED: "C", UNCACHED: "U", FIRST: "C", AGAIN: "C"}
_PLACES = {"stride8": "stride8,8"}


def pattern_name(levels: Mapping[str, Any]) -> str:
    """Return the name of a cell without its access size; ``C-off0-seq W W`` is a rewrite."""
    place = str(levels["place"])
    done = "R" if levels["direction"] == READ else "W W" if levels["state"] == AGAIN else "W"
    return f"{_LETTERS[str(levels['state'])]}-{levels['memory']}-{_PLACES.get(place, place)} {done}"
