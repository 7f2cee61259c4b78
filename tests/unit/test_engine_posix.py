"""The engine on a real directory: what the system calls leave behind, and what must never happen."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from engine_helpers import (
    CLOSE,
    CREATE,
    FSYNC,
    MIB,
    OPEN,
    READS,
    WRITE,
    clean,
    phase,
    rows,
    run,
    session,
    total,
    write_file,
)

from iosonde.core import schema
from iosonde.core.workload import FileNames, Files, MixPart, Phase, Step, Workload
from iosonde.engine import _native


def test_every_kind_does_what_it_is_called(tmp_path):
    results = run(
        tmp_path,
        phase({"kind": "mkdir"}, files={"template": "a/d"}),
        phase(CREATE, WRITE, FSYNC, {"kind": "fdatasync"}, {"kind": "dontneed"}, CLOSE, {"kind": "stat"}),
        phase({"kind": "append", "transfer_size": 1000, "count": 3}),
        phase({"kind": "truncate", "to": 5000}),
        phase({"kind": "mmap_write", "transfer_size": 4096, "base": 4096, "size": 8192}),
        phase({"kind": "mmap_read", "transfer_size": 4096, "size": 12288, "offsets": "rnd"}),
        phase({"kind": "rename", "to": ".new"}),
        phase({"kind": "readdir"}, {"kind": "rmdir"}, files={"template": "a/d"}, on_error="continue"),
        phase({"kind": "readdir"}, files={"names": ["a"]}),
    )
    assert clean(results)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "f000000.new"]
    assert (tmp_path / "f000000.new").stat().st_size == 12288
    assert list((tmp_path / "a").iterdir()) == []
    seen = {_native.KINDS[entry["kind"]] for [record] in results for entry in record.totals}
    assert seen == set(_native.KINDS) - {"open", "read", "write", "unlink", "compute"} | {"write"}


def test_sizes_after_append_and_truncate(tmp_path):
    write_file(tmp_path)
    assert clean(run(tmp_path, phase({"kind": "append", "transfer_size": 1000, "count": 3})))
    assert (tmp_path / "f000000").stat().st_size == MIB + 3000
    assert clean(run(tmp_path, phase({"kind": "truncate", "to": 77})))
    assert (tmp_path / "f000000").stat().st_size == 77


def test_readdir_counts_entries(tmp_path):
    results = run(tmp_path, phase(CREATE, CLOSE, files={"template": "d/f", "count": 30}))
    results += run(tmp_path, phase({"kind": "readdir"}, files={"names": ["d"]}))
    assert clean(results) and list(rows(results[1][0])["size"]) == [30]


def test_a_renamed_file_goes_by_its_new_name_and_back(tmp_path):
    steps = ({"kind": "rename", "to": ".x"}, {"kind": "stat"})
    write_file(tmp_path)
    assert clean(run(tmp_path, phase(*steps, passes=3)))
    assert [path.name for path in tmp_path.iterdir()] == ["f000000.x"]


@pytest.mark.parametrize("opens", [CREATE, OPEN])
def test_open_files_last_over_phases_and_may_be_written_in_a_later_one(tmp_path, opens):
    write_file(tmp_path)
    reads = {"kind": "read", "transfer_size": 4096, "count": 4}
    assert clean(run(tmp_path, phase(opens), phase(WRITE), phase(reads), phase(CLOSE)))


@pytest.mark.parametrize("open_flags", [["sync"], ["dsync"], ["direct"], ["direct", "sync"], ["noatime"]])
def test_open_flags(tmp_path, open_flags):
    results = run(tmp_path, phase(CREATE, WRITE, {**READS, "count": 8}, CLOSE, open_flags=open_flags))
    assert clean(results)


def test_exclusive_create_fails_on_an_existing_file(tmp_path):
    [first, second] = run(tmp_path, phase(CREATE, CLOSE), phase(CREATE, CLOSE, open_flags=["exclusive"]))
    assert first[0].stopped == "count" and second[0].errors[0]["errno"] == 17


def test_written_content_is_as_compressible_as_asked(tmp_path):
    sizes = {}
    for name, content in {
        "random": "incompressible",
        "half": {"compressible": 0.5},
        "zeros": "zeros",
    }.items():
        (tmp_path / name).mkdir()
        sizes[name] = len(zlib.compress(write_file(tmp_path / name, content=content), 1)) / MIB
    assert sizes["random"] > 0.99 and 0.45 < sizes["half"] < 0.56 and sizes["zeros"] < 0.01


def test_no_two_blocks_are_equal_in_a_file_or_in_two(tmp_path):
    # Two sessions with the same seed, as two ranks or two repetitions are.
    data = write_file(tmp_path) + write_file(tmp_path)
    blocks = {data[start : start + 4096] for start in range(0, 2 * MIB, 4096)}
    # One 64 KiB buffer was written 16 times, each time marked in every 4 KiB.
    assert len(blocks) == 512


@pytest.mark.parametrize("backend", ["posix", "io_uring"])
@pytest.mark.parametrize("kind", ["read", "mmap_read"])
def test_verify_finds_a_flipped_byte_and_says_where(tmp_path, backend, kind):
    write_file(tmp_path, verify=True)
    check = phase({"kind": kind, "transfer_size": 4096, "size": MIB}, verify=True, on_error="continue")
    assert clean(run(tmp_path, check, rank=5))
    path = tmp_path / "f000000"
    data = bytearray(path.read_bytes())
    data[70_001] ^= 0x10
    path.write_bytes(data)
    [[record]] = run(tmp_path, check, backend={"name": backend})
    assert total(record, kind)["errors"] == 1
    table = rows(record)
    assert table["offset"][table["status"] == schema.STATUS_MISMATCH] == 70_001 // 4096 * 4096
    [failure] = record.errors
    assert (failure["offset"], failure["errno"]) == (70_001, schema.STATUS_MISMATCH)


def test_verify_knows_another_seed_and_another_file(tmp_path):
    write_file(tmp_path, verify=True)
    check = phase(READS, verify=True)
    [[record]] = run(tmp_path, check, seed=1)
    assert record.errors[0]["offset"] == rows(record)["offset"][0]
    (tmp_path / "g000000").write_bytes((tmp_path / "f000000").read_bytes())
    [[record]] = run(tmp_path, {**check, "files": {"template": "g"}})
    assert record.stopped == "error"


def test_reading_beyond_the_end_is_short(tmp_path):
    write_file(tmp_path)
    [[record]] = run(tmp_path, phase({"kind": "read", "transfer_size": 65536, "base": MIB - 100, "size": 65536}))
    assert rows(record)["status"][0] == schema.STATUS_SHORT and rows(record)["size"][0] == 100


@pytest.mark.parametrize("depth", [1, 2, 16])
@pytest.mark.parametrize("open_flags", [[], ["direct"]])
def test_io_uring_does_what_posix_does(tmp_path, depth, open_flags):
    backend = {"name": "io_uring", "queue_depth": depth}
    write = {**WRITE, "transfer_size": 4096, "offsets": "reverse"}
    results = run(
        tmp_path,
        phase(CREATE, write, FSYNC, CLOSE, verify=True, open_flags=open_flags),
        phase({**READS, "count": 500}, verify=True, open_flags=open_flags),
        backend=backend,
        budget=10_000,
    )
    assert clean(results)
    assert clean(run(tmp_path, phase(READS, verify=True)))
    [[posix]] = run(tmp_path, phase({**READS, "count": 500}))
    [[other]] = run(tmp_path, phase({**READS, "count": 500}), backend=backend)
    offsets = [sorted(rows(record)["offset"]) for record in (posix, other)]
    assert offsets[0] == offsets[1]
    table = rows(results[1][0])
    ends = table["start_ns"].astype(np.int64) + table["duration_ns"]
    assert (np.diff(ends) >= 0).all() and (table["duration_ns"] > 0).all()
    assert posix.end_error_ns == 0
    if not open_flags:  # cached reads complete while they are submitted
        assert results[1][0].end_error_ns > 0


def test_io_uring_failure_carries_its_errno(tmp_path):
    write_file(tmp_path)
    backend = {"name": "io_uring", "queue_depth": 4}
    [[record]] = run(tmp_path, phase(OPEN, CLOSE, READS), backend=backend)
    assert record.stopped == "error" and record.errors[0]["errno"] == 9


def test_all_workers_start_at_the_time_given(tmp_path):
    write_file(tmp_path)
    opened = session(tmp_path, phase(READS), workers=2)
    opened.prepare(0)
    start = _native.monotonic_ns() + 20_000_000
    records = opened.run(0, start)
    opened.close()
    assert all(record.started_ns >= start for record in records)


def test_page_cache_and_dropping_it(tmp_path):
    write_file(tmp_path)
    path = str(tmp_path / "f000000")
    assert _native.page_cache(path) == (MIB, MIB)
    _native.drop_page_cache(path)
    resident, size = _native.page_cache(path)
    assert 0 <= resident <= size == MIB
    with pytest.raises(FileNotFoundError):
        _native.page_cache(path + "x")


def test_the_dataclasses_spell_what_the_engine_reads(tmp_path):
    steps = (Step("create"), Step("write", transfer_size=4096, count=2), Step("close"))
    mix = Step("mix", count=20, of=(MixPart(1, Step("stat")),))
    phases = (
        Phase("numbers", Files("d/f", 2, first=3, suffix=".dat"), steps, verify=True),
        Phase("names", FileNames(("d/f000003.dat", "d/f000004.dat")), (mix,), order="shuffled"),
    )
    workload = Workload(str(tmp_path), (phases,), seed=1, rank=2)
    opened = _native.Session(workload.to_json(), 100)
    results = []
    for index in range(2):
        opened.prepare(index)
        results.append(opened.run(index))
    opened.close()
    assert clean(results)
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == ["f000003.dat", "f000004.dat"]
    assert list(rows(results[0][0])["file"]) == [3] * 4 + [4] * 4 and total(results[1][0], "stat")["count"] == 40
