"""Many ranks on one machine: 256 do what 2 do; and large outputs of few."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest
from cluster import SOURCE

from iosonde.core.errors import LaunchError
from iosonde.ranks import machine, watchdog
from iosonde.ranks.launch import local, mpiexec

MANY = 256
MANY_NEED_BYTES = MANY * 45 * 2**20  # a rank with NumPy and MPICH was measured at 38 MiB
MANY_S = 420  # calm, a third of it
OUTPUT_BYTES = 20 << 20
PROLOGUE = """
    import hashlib, json, os, sys
    from pathlib import Path
    from iosonde.ranks import mpi
    ranks = mpi.connect_ranks(int(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def an_mpiexec(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.fail(f"these tests need MPI: {error.message}; {error.hint}")


def start(directory, count, body, limit_s):
    program = textwrap.dedent(PROLOGUE) + textwrap.dedent(body)
    words = local.Local().command(count, 1, [sys.executable, "-c", program, str(count), str(directory)])
    outcome = watchdog.watch_command(
        words, heartbeat_dir=directory / "beats", limits=watchdog.TimeLimits(limit_s), ranks=count
    )
    assert not outcome.exit_code, (outcome.reason, outcome.stderr_tail)
    return json.loads((directory / "beats" / watchdog.STDOUT).read_text())


def test_256_ranks_do_what_2_do(tmp_path):
    """A whole trial: every rank runs a command, and its output comes home under its own number."""
    if machine.compute_usable_memory() < MANY_NEED_BYTES:
        pytest.skip(f"needs {MANY_NEED_BYTES >> 30} GiB of memory")
    plan, store = tmp_path / "plan.yaml", tmp_path / "store"
    plan.write_text(f"nodes: [{MANY}]\nrepetitions: 1\nsteps:\n  - command: echo rank ${{RANK}} of ${{RANKS}}\n")
    words = [sys.executable, "-m", "iosonde.cli.main", "run", str(plan), "--store", str(store)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=MANY_S, check=False)
    assert not done.returncode, done.stderr
    (run,) = (store / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["missing"] == []
    said = [path.read_text() for path in sorted((run / "raw").iterdir())]
    assert said == [f"rank {rank} of {MANY}\n" for rank in range(MANY)]


def test_20_mb_of_output_from_each_of_4_ranks(tmp_path):
    """From a file of each rank, piece by piece, into one of rank 0's: all of it, in the order of the ranks."""
    whole, sizes = start(
        tmp_path,
        4,
        f"""
        here = Path(sys.argv[2]) / f"output-{{ranks.rank}}"
        here.write_bytes(os.urandom({OUTPUT_BYTES} + ranks.rank))
        sums = ranks.gather(hashlib.sha256(here.read_bytes()).hexdigest())
        def pieces():
            with here.open("rb") as file:
                while piece := file.read(1 << 20):
                    yield piece
            here.unlink()
        arrived = [Path(sys.argv[2]) / f"arrived-{{rank}}" for rank in range(ranks.size)]
        order = []
        def put(rank, piece):
            order.append(rank)
            with arrived[rank].open("ab") as file:
                file.write(piece)
        ranks.stream_to_root(pieces(), put)
        if not ranks.rank:
            found = [hashlib.sha256(path.read_bytes()).hexdigest() for path in arrived]
            print(json.dumps([found == sums and order == sorted(order), [path.stat().st_size for path in arrived]]))
        """,
        limit_s=60,
    )
    assert whole
    assert sizes == [OUTPUT_BYTES + rank for rank in range(4)]
    assert not list(tmp_path.glob("output-*"))
