"""What a scripted machine knows: why each operation took its time. A raw file of the run beside its operations.

``raw/truth-0001.json`` of phase 1 is ``{"classes": ["none", "discarded", …], "ranks": {"0": "4474…"}}``: a character
for each operation of the rank, in the order of their starts, which stands for the class at its place from ``0`` on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST = ord("0")
UNKNOWN = ""


def encoded(classes: bytes) -> str:
    """Class numbers as text."""
    return bytes(_FIRST + number for number in classes).decode("ascii")


def raw_name(phase: int) -> str:
    """Of the file of one phase."""
    return f"truth-{phase:04d}.json"


def to_raw(classes: Sequence[str], texts: Mapping[int, str]) -> bytes:
    """The content of that file."""
    return json.dumps({"classes": list(classes), "ranks": {str(rank): text for rank, text in texts.items()}}).encode()


def classify_operations(raw: Mapping[str, bytes | Path], operations: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
    """The class of each operation (dtype ``schema.OPERATION``, by rank and start, as a store has them); '' where no
    machine was at work, or not every operation was kept."""
    classes = np.full(operations.size, UNKNOWN, dtype="<U16")
    for phase in np.unique(operations["phase"]).tolist():
        content = raw.get(raw_name(phase))
        if content is None:
            continue
        text = content.read_text() if isinstance(content, Path) else content.decode()
        truth = json.loads(text)
        names = np.array(truth["classes"])
        for rank, codes in truth["ranks"].items():
            rows = np.flatnonzero((operations["phase"] == phase) & (operations["rank"] == int(rank)))
            if rows.size == len(codes):
                classes[rows] = names[np.frombuffer(codes.encode("ascii"), np.uint8) - _FIRST]
    return classes
