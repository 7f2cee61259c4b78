"""Pieces and holes on real ranks: through MPI-IO both ways, with its hints, and by our own sieving."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.core.errors import LaunchError
from iosonde.core.schema import STATUS_MISMATCH
from iosonde.ranks import mpi
from iosonde.ranks.launch import local, mpiexec
from iosonde.store import Store

pytestmark = pytest.mark.mpi

PROGRAM = Path(__file__).parent / "noncontiguous_ranks.py"
KIB = 2**10
SETTINGS = {"access_size": KIB, "hole_size": 3 * KIB, "file_size": 256 * KIB, "verify": True}
PIECES, SPAN = 32, 31 * 4 * KIB + KIB  # of one of two ranks, segmented


@pytest.fixture(autouse=True, scope="module")
def an_mpiexec():
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.fail(f"these tests need MPI: {error.message}; {error.hint}")


@pytest.fixture
def romio():
    if "MPICH" not in mpi.get_library_version():
        pytest.skip("Open MPI's OMPIO takes no ROMIO hints")


def run(root, method, *, ranks=2, spoil=(), **settings):
    """What each rank did: operation → errors, totals, hints."""
    words = [sys.executable, str(PROGRAM), str(root), json.dumps({**SETTINGS, "method": method, **settings})]
    command = local.Local().command(ranks, 1, [*words, str(ranks), *spoil])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((root / "told.json").read_text())


def moved(told, operation):
    """(useful, moved) over all ranks."""
    useful = sum(total["bytes"] for rank in told for total in rank[operation]["totals"].values())
    return useful, useful + sum(rank[operation]["extra_bytes"] for rank in told)


def errors(told):
    return {operation: one["errors"] for rank in told for operation, one in rank.items() if one["errors"]}


@pytest.mark.parametrize("layout", ["segmented", "interleaved"])
@pytest.mark.parametrize("method", ["sieve", "mpiio_independent", "mpiio_collective"])
def test_two_ranks_write_and_read_and_leave_the_holes_alone(tmp_path, method, layout):
    told = run(tmp_path, method, layout=layout, call_size=8 * KIB)
    assert not errors(told)
    useful, _ = moved(told, "write")
    assert useful == moved(told, "read")[0] == 2 * PIECES * KIB
    calls = {rank["write"]["totals"]["write"]["count"] for rank in told}
    assert calls == ({1} if method == "sieve" else {4})
    if method != "sieve":
        assert set(told[0]["write"]["totals"]) == {"open", "write", "fsync", "close"}


@pytest.mark.parametrize("ds", ["enable", "disable"])
def test_romio_does_what_the_hint_says_and_sieves_as_we_do(tmp_path, romio, ds):
    hints = {"romio_ds_read": ds, "romio_ds_write": ds}
    told = run(tmp_path, "mpiio_independent", hints=hints, sieve_buffer=10_000, verify=False)
    for name, value in {**hints, "ind_rd_buffer_size": "10000", "ind_wr_buffer_size": "10000"}.items():
        assert told[0]["read"]["hints"]["took"][name] == told[0]["read"]["hints"]["asked"][name] == value
    for operation in ("read", "write"):
        useful, all_of_it = moved(told, operation)
        slack = 4 * KIB  # what a process reads and writes besides
        if ds == "disable":
            assert useful <= all_of_it < useful + slack
        else:
            (tmp_path / "ours").mkdir(exist_ok=True)
            ours = moved(run(tmp_path / "ours", "sieve", sieve_buffer=10_000, verify=False), operation)[1]
            assert ours <= all_of_it < ours + slack


def test_a_hint_that_the_library_does_not_know_is_not_among_those_in_force(tmp_path):
    told = run(tmp_path, "mpiio_independent", hints={"no_such_hint": "1"})
    hints = told[0]["read"]["hints"]
    assert "no_such_hint" in hints["asked"] and "no_such_hint" not in hints["took"]


@pytest.mark.parametrize("method", ["sieve", "mpiio_independent", "mpiio_collective"])
def test_what_is_read_is_verified(tmp_path, method):
    told = run(tmp_path, method, operations="read", spoil=["make_read_file"])
    assert {name for rank in told for name in rank if rank[name]["errors"]} == {"read"}
    (error, *_) = told[0]["read"]["errors"]
    assert error["errno"] == STATUS_MISMATCH


def test_one_rank_alone_can_use_mpi_io(tmp_path):
    assert not errors(run(tmp_path, "mpiio_collective", ranks=1))


def test_a_value_that_means_nothing_is_left_out_and_no_error(tmp_path, romio):
    told = run(tmp_path, "mpiio_collective", operations="read", hints={"romio_ds_read": "nonsense"})
    assert not errors(told)
    assert told[0]["read"]["hints"]["took"].get("romio_ds_read") != "nonsense"


def test_an_experiment_keeps_what_was_moved_and_the_hints(tmp_path):
    (tmp_path / "target").mkdir()
    step = {"workload": "noncontiguous", **SETTINGS, "method": "mpiio_independent", "operations": "write"}
    step["hints"] = {"no_such_hint": "1"}
    experiment = tmp_path / "experiment.json"
    experiment.write_text(json.dumps({"ranks_per_node": 2, "repetitions": 1, "steps": [step]}))
    words = ["run", str(experiment), "--target", str(tmp_path / "target"), "--store", str(tmp_path / "store")]
    command = [sys.executable, "-m", "iosonde.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path)
    assert "no_such_hint=1" in done.stdout, done.stdout + done.stderr
    (run,) = Store.open(tmp_path / "store").runs()
    assert not run["missing"] and not list((tmp_path / "target").iterdir())
    for phase in run["phases"]:
        assert phase["hints"]["asked"]["no_such_hint"] == "1" and phase["bytes_moved"] >= 2 * PIECES * KIB
