"""Archives of IOR: every setting executed once, with the tool's own iterations or without."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import here
import iosonde
from messages import codes

SIZES, RANKS = (64, 256, 1024), (1, 2, 4)
HEAD = """\
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Sat Nov 21 09:26:0{second} 2026
Command line        : ior -w -t {size}k -b 64m -i {iterations} -o /scratch/x
TestID              : 0
StartTime           : Sat Nov 21 09:26:0{second} 2026
Options:
api                 : POSIX
access              : single-shared-file
segments            : 1
nodes               : 1
tasks               : {ranks}
clients per node    : {ranks}
repetitions         : {iterations}
xfersize            : {size} KiB
blocksize           : 64 MiB
aggregate filesize  : {total} MiB

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
"""
ROW = "write     {rate:.2f}  {rate:.2f}  0.012  65536  {size}.00  0.0001  0.12  0.0007  0.13  {iteration}\n"


def write_archive(folder: Path, iterations: int, seed: int = 1) -> str:
    """Import a file for each of nine settings, whose rates grow with the size and the ranks."""
    noise = random.Random(seed)
    files = folder / f"files-{iterations}-{seed}"
    files.mkdir(parents=True)
    for second, (size, ranks) in enumerate((size, ranks) for size in SIZES for ranks in RANKS):
        rate = (300.0 + 100 * SIZES.index(size) + 120 * RANKS.index(ranks)) * (1 + 0.02 * noise.gauss(0, 1))
        head = HEAD.format(size=size, ranks=ranks, iterations=iterations, second=second, total=64 * ranks)
        rows = [
            ROW.format(rate=rate * (1 + 0.03 * noise.gauss(0, 1)), size=size, iteration=iteration)
            for iteration in range(iterations)
        ]
        (files / f"{size}-{ranks}.txt").write_text("".join([head, *rows, "\nFinished : Sat Nov 21 09:26:09 2026\n"]))
    store = f"store-{iterations}-{seed}"
    done = here.iosonde("import", "-r", files.name, "--store", store, where=folder)
    assert done.returncode == 0, done.stderr
    return str(folder / store)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Archives with one and three iterations."""
    folder = tmp_path_factory.mktemp("archives")
    return {iterations: write_archive(folder, iterations) for iterations in (1, 3)}


@pytest.mark.parametrize("iterations", [1, 3])
def test_settings_executed_once_are_tested_against_the_residuals(archives, iterations):
    answer: Any = iosonde.summary(archives[iterations]).answer
    (effects,) = answer.overview.effects.values()
    assert not effects.untested and {effect.name for effect in effects.significant} == {
        "transfer_size",
        "ranks_per_node",
    }
    assert all(effect.explained.n == 9 for effect in effects.effects)  # executions, not iterations
    (ranking,) = iosonde.rank(archives[iterations]).answer.rankings
    shares = {effect.name: effect.share for effect in effects.effects}
    assert {effect.name: effect.share for effect in ranking.effects.effects} == pytest.approx(shares)


def test_archives_with_one_run_per_setting_are_compared_over_all_settings(archives, tmp_path):
    answer: Any = iosonde.compare(archives[1], b=write_archive(tmp_path, 1, seed=2)).answer
    (item,) = answer.items
    assert (item.comparison.a.side.n, item.comparison.b.side.n, item.comparison.cells) == (9, 9, 9)
    assert "single-runs" in codes(answer.warnings)
