"""A phase through MPI-IO without an MPI library: its calls, its record, and what it says of failed ones."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.errors import SystemFaultError, TargetError
from iosonde.core.schema import STATUS_MISMATCH, STATUS_OK, STATUS_SHORT
from iosonde.core.workload import MpiIo
from iosonde.engine import _native
from iosonde.measure import spool
from iosonde.measure.rank import mpi_io
from messages import raises

PIECE, HOLE, BASE, SEED = 16, 8, 100, 7
RANKS = SimpleNamespace(library=lambda: None)


def kind(name):
    return _native.KINDS.index(name)


class File:
    """What a test sees of a shared file: its pieces as the ranks' bytes, and every call."""

    def __init__(self, calls, moves):
        self.calls, self.moves = calls, moves

    def __call__(self, ranks, path, writes, hints):
        self.calls.append(("open", path.name, writes, hints))
        if self.moves.get("open"):
            raise SystemFaultError("io-error", self.moves["open"])
        return self

    def view(self, *of):
        self.calls.append(("view", *of))

    def move(self, what, at, buffer, collective):
        self.calls.append((what, at, len(buffer), collective))
        answer = self.moves.get(at, len(buffer))
        if isinstance(answer, str):
            raise SystemFaultError("io-error", answer)
        self.moves.get("content", lambda *_: None)(at, buffer)
        return answer

    def sync(self):
        self.calls.append("sync")

    def hints(self):
        return {"cb_nodes": "2"}

    def close(self):
        self.calls.append("close")


def run(tmp_path, monkeypatch, what, moves=None, io=(1000, 1120), **more):
    """Five pieces, two a call, by a clock that advances by 10 ns at each look; (record, calls, session)."""
    calls, counted = [], list(io)
    monkeypatch.setattr(mpi_io, "SharedFile", File(calls, moves or {}))
    monkeypatch.setattr(mpi_io, "_read_process_io_bytes", lambda: counted.pop(0))
    clock = iter(range(1000, 9000, 10))
    monkeypatch.setattr(mpi_io, "time", SimpleNamespace(monotonic_ns=lambda: next(clock)))
    (tmp_path / "f").write_bytes(b"x")
    fields = {"per_call": 2, "collective": True, "hints": {"a": "b"}, **more}
    session = mpi_io.Session(MpiIo("p", "f", what, BASE, PIECE, HOLE, 5, **fields), str(tmp_path), SEED, RANKS)
    session.prepare(0)
    (record,) = session.run(0)
    session.close()
    return record, calls, session


@pytest.mark.parametrize(
    ("what", "more", "ends"), [("read", {}, ["close"]), ("write", {"collective": False}, ["sync", "close"])]
)
def test_pieces_are_moved_in_calls_and_each_call_is_an_operation(tmp_path, monkeypatch, what, more, ends):
    record, calls, session = run(tmp_path, monkeypatch, what, **more)
    collective, writes = more.get("collective", True), what == "write"
    assert calls == [
        ("open", "f", writes, {"a": "b"}),
        ("view", BASE, PIECE, HOLE),
        (what, 0, 32, collective),
        (what, 32, 32, collective),
        (what, 64, 16, collective),
        *ends,
    ]
    operations = ["open", what, what, what, *(["fsync"] if writes else []), "close"]
    starts = list(range(1010, 1010 + 20 * len(operations), 20))
    rows = spool.records_to_operations(record.operations, 0, 0)
    assert rows["kind"].tolist() == [kind(name) for name in operations]
    assert rows["start_ns"].tolist() == starts
    assert set(rows["duration_ns"]) == {10} and set(rows["status"]) == {STATUS_OK}
    # A call's offset is that of its first piece in the file.
    offsets = [BASE + first * (PIECE + HOLE) for first in (0, 2, 4)]
    assert rows["offset"].tolist() == [0, *offsets, *[0] * len(ends)]
    assert rows["size"].tolist() == [0, 32, 32, 16, *[0] * len(ends)]
    assert (record.started_ns, record.ended_ns, record.stopped) == (starts[0], starts[-1] + 10, "count")
    assert (record.errors, record.complete, record.histograms) == ([], True, {})
    assert record.extra_bytes == 120 - 5 * PIECE
    assert session.hints == {"cb_nodes": "2"} and session.operations_done() == len(operations)
    by_kind = {entry["kind"]: entry for entry in record.totals}
    assert list(by_kind) == sorted(kind(name) for name in set(operations))
    assert by_kind[kind(what)] == {
        "kind": kind(what),
        "count": 3,
        "bytes": 80,
        "errors": 0,
        "first_start_ns": starts[1],
        "last_end_ns": starts[3] + 10,
        "sum_duration_ns": 30,
    }


def test_a_failed_call_and_a_short_one_are_recorded_and_the_others_follow(tmp_path, monkeypatch):
    record, calls, _ = run(tmp_path, monkeypatch, "read", {0: "no server", 32: 31})
    assert [call[:2] for call in calls if call[0] == "read"] == [("read", 0), ("read", 32), ("read", 64)]
    assert record.stopped == "error"
    short = f"{31} of {32} bytes"
    assert record.errors == [
        {"kind": "read", "path": "f", "offset": BASE, "errno": mpi_io.STATUS_OTHER, "text": "no server"},
        {"kind": "read", "path": "f", "offset": BASE + 48, "errno": STATUS_SHORT, "text": short},
    ]
    rows = spool.records_to_operations(record.operations, 0, 0)
    assert rows["status"].tolist() == [STATUS_OK, mpi_io.STATUS_OTHER, STATUS_SHORT, STATUS_OK, STATUS_OK]
    assert rows["size"].tolist() == [0, 0, 31, 16, 0]
    (total,) = [entry for entry in record.totals if entry["kind"] == kind("read")]
    assert (total["count"], total["errors"], total["bytes"]) == (3, 2, 47)


def test_a_file_that_cannot_be_opened_is_one_failed_call(tmp_path, monkeypatch):
    record, calls, session = run(tmp_path, monkeypatch, "read", {"open": "no file"})
    assert len(calls) == 1 and record.stopped == "error" and record.extra_bytes is None and session.hints == {}
    assert [(error["kind"], error["offset"]) for error in record.errors] == [("open", 0)]


@pytest.mark.parametrize("io", [(None, 9), (9, None)])
def test_bytes_that_the_kernel_does_not_count_are_unknown(tmp_path, monkeypatch, io):
    assert run(tmp_path, monkeypatch, "read", io=io)[0].extra_bytes is None


@pytest.mark.parametrize(
    ("verify", "spoilt", "errors"),
    [(True, None, []), (True, 17, [(BASE + PIECE + HOLE + 1, STATUS_MISMATCH)]), (False, 17, [])],
)
def test_what_is_read_is_verified_byte_for_byte(tmp_path, monkeypatch, verify, spoilt, errors):
    """Byte 17 of the first call is the second one of the second piece."""

    def content(at, buffer):
        offset = BASE + at // PIECE * (PIECE + HOLE)
        _native.fill_content(buffer, SEED, "f", offset, PIECE, HOLE)
        if at == 0 and spoilt is not None:
            buffer[spoilt] ^= 1

    record, *_ = run(tmp_path, monkeypatch, "read", {"content": content}, verify=verify)
    assert [(error["offset"], error["errno"]) for error in record.errors] == errors
    failed, *_ = run(tmp_path, monkeypatch, "read", {"content": content, 0: "no"}, verify=True)
    assert [error["errno"] for error in failed.errors] == [mpi_io.STATUS_OTHER], "not verified as well"


@pytest.mark.parametrize("verify", [True, False])
def test_what_is_written_can_be_verified_or_is_unique(tmp_path, monkeypatch, verify):
    written = {}
    content = lambda at, buffer: written.update({at: buffer.copy()})  # noqa: E731
    run(tmp_path, monkeypatch, "write", {"content": content}, verify=verify)
    known = np.zeros(16, np.uint8)
    _native.fill_content(known, SEED, "f", BASE + 4 * (PIECE + HOLE), PIECE, HOLE)
    assert (written[64] == known).all() == verify
    assert (written[0] != written[32]).any()


def test_only_our_own_file_is_prepared(tmp_path):
    def session(name, **more):
        access = MpiIo("p", name, "read", 0, PIECE, 0, **{"count": 5, "per_call": 2, **more})
        return mpi_io.Session(access, str(tmp_path), SEED, RANKS)

    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("f")
    with raises("file-replaced", TargetError, path=tmp_path / "link"):
        session("link").prepare(0)
    with raises("io-error", TargetError, path=tmp_path / "none"):
        session("none").prepare(0)
    for more, size in (({}, 2 * PIECE), ({"count": 1}, PIECE)):
        prepared = session("f", **more)
        prepared.prepare(0)
        assert prepared._buffer.size == size and prepared.operations_done() == 0


def test_at_most_so_many_errors_are_kept():
    session = mpi_io.Session(MpiIo("p", "f", "read", 0, 1, 0, 1, 1), "/r", SEED, RANKS)
    done = mpi_io._Done("read", STATUS_OK, 0, 0, 0, 0)
    for offset in range(mpi_io.MOST_ERRORS + 2):
        session._record_failure(done, STATUS_SHORT, offset, "short")
    assert [error["offset"] for error in session._errors] == list(range(100)) and done.status == STATUS_SHORT


def test_a_buffer_differs_from_the_one_before_in_each_4_kib():
    buffer = np.zeros(2 * 4096 + 12, np.uint8)
    mpi_io._make_unique(buffer)
    assert np.flatnonzero(buffer).tolist() == [0, 4096, 8192]
    mpi_io._make_unique(buffer)
    assert buffer[[0, 4096, 8192]].tolist() == [2, 2, 2]


def test_read_and_written_bytes_of_this_process_are_counted(tmp_path, monkeypatch):
    path = tmp_path / "io"
    monkeypatch.setattr(mpi_io, "Path", lambda _: path)
    assert mpi_io._read_process_io_bytes() is None
    path.write_text("rchar: 5\nwchar: 70\nsyscr: 900\n")
    assert mpi_io._read_process_io_bytes() == 75
