"""``python -m systems_sample DIR`` writes outputs of dd on two systems, three each, that only their directories tell
apart."""

import sys
from pathlib import Path

SECONDS = {"alpha": 0.25, "beta": 0.5}


def write_sample(folder: Path) -> None:
    for system, seconds in SECONDS.items():
        (folder / system).mkdir(parents=True)
        for number in (1, 2, 3):
            records = "64+0 records in\n64+0 records out\n"
            copied = f"67108864 bytes (67 MB, 64 MiB) copied, {seconds + number / 1000} s, 200 MB/s\n"
            (folder / system / f"run{number}.txt").write_text(records + copied)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
