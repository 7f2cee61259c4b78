"""``python tests/survey_tree.py DIRECTORY``: made-up data, the same each time, for examples of surveys."""

from __future__ import annotations

import gzip
import os
import random
import sys
import time
from pathlib import Path

_WORDS = ("ocean", "ice", "wind", "salt", "layer", "depth", "run", "cell")


def make(root: Path, files: int = 3000, seed: int = 1) -> None:
    """Many small texts; fewer archives and results, which hold most of the bytes; one large file."""
    draw = random.Random(seed)
    for number in range(files):
        place = root / f"project{number % 7}" / f"run{number % 61}"
        place.mkdir(parents=True, exist_ok=True)
        kind = draw.choices(("log.txt", "old.gz", "out.nc"), (75, 15, 10))[0]
        _write(place / f"{number}-{kind}", _content(kind, draw), 1 + number % 400)
    _write(root / "restart.nc", b"CDF\x01" + draw.randbytes(2 << 20) + bytes(2 << 20), 30)


def _write(path: Path, content: bytes, days: int) -> None:
    """A file that was modified so long ago."""
    path.write_bytes(content)
    modified = time.time() - 86400 * (days - 0.5)  # no age lies at the edge of a class
    os.utime(path, (modified, modified))


def _content(kind: str, draw: random.Random) -> bytes:
    if kind == "out.nc":
        return b"CDF\x01" + (draw.randbytes(64) + bytes(192)) * draw.randrange(50, 500)
    text = " ".join(draw.choices(_WORDS, k=draw.randrange(200, 1500))).encode()
    return gzip.compress(text * 3, mtime=0) if kind == "old.gz" else text


if __name__ == "__main__":
    make(Path(sys.argv[1]))
