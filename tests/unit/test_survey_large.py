"""A million files in one directory: all are counted, and memory does not grow with their number."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

MILLION, FEW = 1_000_000, 10_000
MOST_MORE_BYTES = 48 << 20  # names of a million files alone, and nothing else, would take as much as 60 MB in a list

_PROGRAM = """
import json, resource, sys
from iosonde.survey.walk import WalkOptions, walk_tree
found = walk_tree(WalkOptions(sys.argv[1], 0, 500))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"files": found.files, "drawn": len(found.by_count), "peak": peak}))
"""


@pytest.fixture(scope="module")
def crowded():
    """In memory where that is possible: the names are what counts, not the disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        directory = os.open(place, os.O_PATH)
        for number in range(MILLION):
            os.mknod(f"a file with number {number:07}", dir_fd=directory)
        os.close(directory)
        yield Path(place)


def seen(tree: Path) -> dict[str, int]:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, tree], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_million_files_in_one_directory_take_the_memory_of_few(crowded, tmp_path):
    for number in range(FEW):
        os.mknod(tmp_path / f"a file with number {number:07}")
    few, many = seen(tmp_path), seen(crowded)
    assert (few["files"], many["files"]) == (FEW, MILLION)
    assert few["drawn"] == many["drawn"] == 500
    assert many["peak"] - few["peak"] < MOST_MORE_BYTES, (few, many)
    print(f"peak {few['peak'] >> 20} MiB with {FEW:,} files, {many['peak'] >> 20} MiB with {MILLION:,}")
