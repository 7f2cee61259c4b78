"""``python tests/survey_tree.py DIRECTORY``: made-up data, the same each time, for examples of surveys."""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path

_WORDS = ("ocean", "ice", "wind", "salt", "layer", "depth", "run", "cell")


def make(root: Path, files: int = 3000, seed: int = 1) -> None:
    """Many small texts; fewer archives and results, which hold most of the bytes; one large file."""
    draw = random.Random(seed)
    for number in range(files):
        place = root / f"project{number % 7}" / f"run{number % 61}"
        place.mkdir(parents=True, exist_ok=True)
        kind = draw.choices(("log.txt", "old.gz", "out.nc"), (75, 15, 10))[0]
        (place / f"{number}-{kind}").write_bytes(_content(kind, draw))
    (root / "restart.nc").write_bytes(b"CDF\x01" + draw.randbytes(2 << 20) + bytes(2 << 20))


def _content(kind: str, draw: random.Random) -> bytes:
    if kind == "out.nc":
        return b"CDF\x01" + (draw.randbytes(64) + bytes(192)) * draw.randrange(50, 500)
    text = " ".join(draw.choices(_WORDS, k=draw.randrange(200, 1500))).encode()
    return gzip.compress(text * 3, mtime=0) if kind == "old.gz" else text


if __name__ == "__main__":
    make(Path(sys.argv[1]))
