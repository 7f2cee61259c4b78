"""Data sieving in the engine: what it moves, what it leaves alone, and that writers do not lose each other's bytes."""

from __future__ import annotations

import errno
import fcntl
import json
import resource
import threading

import numpy as np
import pytest
from engine_helpers import CLOSE, CREATE, FSYNC, MIB, OPEN, clean, fake, phase, rows, run, session, total, write_file

from iosonde.core import schema
from iosonde.engine import _native

PIECE, HOLE = 1000, 3000
PERIOD = PIECE + HOLE
PIECES = (MIB - PIECE) // PERIOD + 1
SPAN = (PIECES - 1) * PERIOD + PIECE
STRIDE = {"transfer_size": PIECE, "size": MIB, "offsets": {"stride": {"hole": HOLE}}}


def sieve(kind, buffer=65536, **more):
    return {"kind": kind, "sieve": {"buffer": buffer}, **STRIDE, **more}


def is_piece():
    """For every byte of the file whether it is wanted."""
    at = np.arange(MIB)
    return (at % PERIOD < PIECE) & (at < SPAN)


@pytest.mark.parametrize("buffer", [100, PIECE, 4096, 65536, 4 * MIB])
def test_a_sieved_read_brings_the_wanted_bytes_and_counts_both(tmp_path, buffer):
    write_file(tmp_path, verify=True)
    [[record]] = run(tmp_path, phase(sieve("read", buffer), verify=True))
    assert record.errors == [] and record.stopped == "count"
    assert total(record, "read")["bytes"] == PIECES * PIECE
    table = rows(record)
    assert table["offset"][0] == 0 and table["size"].sum() == PIECES * PIECE
    if buffer >= 4 * MIB:
        assert len(table["size"]) == 1 and record.extra_bytes == SPAN - PIECES * PIECE
    if buffer == PIECE:
        assert record.extra_bytes == 0


def test_verification_looks_at_the_wanted_bytes_and_only_at_them(tmp_path):
    write_file(tmp_path, verify=True)
    path = tmp_path / "f000000"
    data = bytearray(path.read_bytes())
    data[PERIOD + PIECE + 5] ^= 1
    path.write_bytes(data)
    assert clean(run(tmp_path, phase(sieve("read"), verify=True)))
    data[40 * PERIOD + 5] ^= 1
    path.write_bytes(data)
    [[record]] = run(tmp_path, phase(sieve("read"), verify=True))
    assert record.errors[0]["offset"] == 40 * PERIOD + 5
    assert rows(record)["status"][-1] == schema.STATUS_MISMATCH


@pytest.mark.parametrize("buffer", [700, 4096, 65536, 4 * MIB])
def test_a_sieved_write_writes_the_pieces_and_leaves_the_holes_alone(tmp_path, buffer):
    before = np.frombuffer(write_file(tmp_path), np.uint8)
    [[record]] = run(tmp_path, phase(OPEN, sieve("write", buffer), FSYNC, CLOSE, verify=True))
    assert record.errors == [] and total(record, "write")["bytes"] == PIECES * PIECE
    after = np.frombuffer((tmp_path / "f000000").read_bytes(), np.uint8)
    assert len(after) == MIB
    assert (after[~is_piece()] == before[~is_piece()]).all()
    expected = np.empty(PIECES * PIECE, np.uint8)
    _native.fill_content(expected, 0, "f000000", 0, PIECE, HOLE)
    assert (after[is_piece()] == expected).all()
    if buffer == 4 * MIB:  # read once, written once
        assert record.extra_bytes == 2 * SPAN - PIECES * PIECE
    if buffer == 700:  # no window has a hole between pieces: some reach from a piece into the hole behind it
        assert 0 < record.extra_bytes < 2 * SPAN


def test_a_sieved_write_to_an_empty_file_makes_zeros_of_the_holes(tmp_path):
    [[record]] = run(tmp_path, phase(CREATE, sieve("write", 4 * MIB), CLOSE, verify=True))
    data = np.frombuffer((tmp_path / "f000000").read_bytes(), np.uint8)
    assert len(data) == SPAN and not data[~is_piece()[:SPAN]].any()
    assert record.extra_bytes == SPAN - PIECES * PIECE  # nothing to read


def test_without_holes_nothing_is_read_or_moved_twice(tmp_path):
    write_file(tmp_path)
    step = sieve("write", 65536, offsets={"stride": {"hole": 0}})
    [[record]] = run(tmp_path, phase(step, verify=True))
    assert record.errors == [] and record.extra_bytes == 0
    assert total(record, "write")["count"] == -(-(MIB // PIECE * PIECE) // 65536)


def test_writers_of_interleaved_pieces_do_not_lose_each_others_bytes(tmp_path):
    # Each one's holes are the other's pieces: without the lock hundreds of windows lose bytes.
    size, piece = 8 * MIB, 1024
    zeros = {"kind": "write", "transfer_size": size, "size": size}
    assert clean(run(tmp_path, phase(CREATE, zeros, CLOSE, content="zeros")))

    def steps(turn):
        keys = {"transfer_size": piece, "base": turn * piece, "size": size - piece}
        return {"kind": "write", "sieve": {"buffer": 10_000}, **keys, "offsets": {"stride": {"hole": piece}}}

    both = [{"phases": [phase(steps(turn), verify=True)]} for turn in (0, 1)]
    opened = _native.Session(json.dumps({"root": str(tmp_path), "workers": both}), 10_000)
    opened.prepare(0)
    assert clean([opened.run(0)])
    opened.close()
    assert clean(run(tmp_path, phase({"kind": "read", "transfer_size": size, "size": size}, verify=True)))


def test_a_sieved_write_waits_for_who_has_locked_the_window(tmp_path):
    write_file(tmp_path)
    one = session(tmp_path, phase(sieve("write")))
    one.prepare(0)
    thread = threading.Thread(target=one.run, args=(0,))
    with (tmp_path / "f000000").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 10, 30_000)
        thread.start()
        thread.join(0.05)
        assert thread.is_alive() and one.operations_done() == 0
    thread.join()
    assert one.operations_done() == SPAN // 65536 + 1
    one.close()


def test_a_failure_in_the_middle_of_a_window_gives_the_lock_back(tmp_path):
    write_file(tmp_path)
    one = session(tmp_path, phase(OPEN, sieve("write"), on_error="continue"))
    one.prepare(0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        [record] = one.run(0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert errno.EFBIG in {failure["errno"] for failure in record.errors}
    with (tmp_path / "f000000").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while somebody else holds a lock
    one.close()


def test_reading_beyond_the_end_is_short(tmp_path):
    write_file(tmp_path)
    [[record]] = run(tmp_path, phase(sieve("read", size=2 * MIB)))
    table = rows(record)
    assert table["status"][-1] == schema.STATUS_SHORT
    assert table["size"].sum() == MIB // PERIOD * PIECE + min(MIB % PERIOD, PIECE)


def test_a_sieve_plays_the_latencies_of_its_reads_and_writes():
    step = {
        "kind": "write",
        "transfer_size": 10,
        "size": 100,
        "sieve": {"buffer": 1000},
        "offsets": {"stride": {"hole": 10}},
    }
    backend = {"latency_ns": {"read": 300, "write": 500}}
    [[record]] = fake(phase(step), backend=backend)
    assert list(rows(record)["duration_ns"]) == [800] and total(record, "write")["bytes"] == 50
    faults = [{"kind": "read", "at": 0, "errno": 5}]
    [[record]] = fake(phase(step), backend={**backend, "faults": faults})
    assert record.errors[0]["errno"] == 5 and list(rows(record)["duration_ns"]) == [300]


@pytest.mark.parametrize(
    ("change", "place", "word"),
    [
        ({"sieve": {}}, ".sieve", "buffer"),
        ({"sieve": {"buffer": 0}}, ".sieve.buffer", "0"),
        ({"kind": "append"}, ".sieve", "read and write"),
        ({"offsets": "seq"}, "", '"offsets"'),
        ({"offsets": {"stride": {"hole": 5, "jitter": 1}}}, "", '"offsets"'),
        ({"memory": "seq"}, ".memory", "sieve"),
        ({"size": 1 << 40, "sieve": {"buffer": 1}}, ".sieve.buffer", '"size"'),
        ({"size": None}, "", "size"),
    ],
)
def test_what_cannot_be_sieved_is_refused(change, place, word):
    step = {key: value for key, value in {**sieve("read"), **change}.items() if value is not None}
    with pytest.raises(_native.EngineError) as error:
        fake(phase(step))
    where, _, said = str(error.value).partition(": ")
    assert where == f"workers[0].phases[0].steps[0]{place}" and word in said
