"""Ground truth of a scripted machine: the cause of each operation's duration, as a raw file of the run.

``raw/truth-0001.json`` of phase 1 is ``{"classes": ["none", "discarded", …], "ranks": {"0": "4474…"}}``. Each operation
of a rank has a character, in order of start. It encodes the index of its class, counted from ``0``.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST = ord("0")
UNKNOWN = ""


def encode_classes(classes: bytes) -> str:
    """Encode class numbers as text."""
    return bytes(_FIRST + number for number in classes).decode("ascii")


def get_raw_name(phase: int) -> str:
    """Return the file name of one phase."""
    return f"truth-{phase:04d}.json"


def encode_raw_file(classes: Sequence[str], texts: Mapping[int, str]) -> bytes:
    """Encode the content of the file."""
    return json.dumps({"classes": list(classes), "ranks": {str(rank): text for rank, text in texts.items()}}).encode()


def classify_operations(raw: Mapping[str, bytes | Path], operations: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
    """Return the class of each operation (dtype ``schema.OPERATION``, sorted by rank and start as in a store). It is ''
    without a scripted machine, or if not every operation was recorded."""
    classes = np.full(operations.size, UNKNOWN, dtype="<U16")
    for phase in np.unique(operations["phase"]).tolist():
        content = raw.get(get_raw_name(phase))
        if content is None:
            continue
        truth = json.loads(content.read_text() if isinstance(content, Path) else content.decode())
        names = np.array(truth["classes"])
        for rank, codes in truth["ranks"].items():
            rows = np.flatnonzero((operations["phase"] == phase) & (operations["rank"] == int(rank)))
            if rows.size == len(codes):
                classes[rows] = names[np.frombuffer(codes.encode("ascii"), np.uint8) - _FIRST]
    return classes
