"""What is done to the caches before a read, in which order, and what is said about it afterwards."""

import errno
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.workload import Files
from iosonde.engine import _native
from iosonde.measure import trial
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import cache, mounted, output, wear_out
from iosonde.measure.rank import phases as rank_phases
from iosonde.measure.spec import CacheRegime


def test_all_ranks_have_let_go_before_any_of_them_looks(monkeypatch):
    """Two ranks drop the same file: pages that the other one is just letting go of are not kept ones."""
    done = []
    for name in ("write_out", "drop_files", "check_after_drop"):
        monkeypatch.setattr(cache, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr(rank_phases.mounted, "find_mount_of_path", lambda _: ("1", "/t"))
    monkeypatch.setattr(rank_phases.hooks, "run", lambda command, names: done.append((command, names["TARGET"])))
    ranks = SimpleNamespace(
        local_rank=0, rank=0, barrier=lambda: done.append("barrier"), wait_for_all=lambda: done.append("asleep")
    )
    assignment = Assignment("/t/iosonde-1/trial-0000", "/s", 2, [], 1, 1, cache={"before_reads": "drop"})
    plan = SimpleNamespace(reads=(Files("f", 1),))
    rank_phases.prepare_caches_before_reads(plan, assignment, False, ranks)
    assert done == ["write_out", "barrier", ("drop", "/t"), "asleep", "drop_files", "barrier", "check_after_drop"]


def test_a_target_that_was_mounted_anew_is_cold_and_is_not_looked_at(monkeypatch):
    """A look at a small file on Gluster brings its content into the client (quick-read)."""
    mounts = iter([("unique 1", "/t"), ("unique 2", "/t")])
    monkeypatch.setattr(rank_phases.mounted, "find_mount_of_path", lambda _: next(mounts))
    monkeypatch.setattr(rank_phases.hooks, "run", lambda *_: None)
    monkeypatch.setattr(cache, "write_out", lambda _: None)
    ranks = SimpleNamespace(
        local_rank=0, rank=0, barrier=lambda: None, wait_for_all=lambda: None, hosts=[SimpleNamespace(name="n1")]
    )
    assignment = Assignment("/t/iosonde-1/trial-0000", "/s", 2, [], 1, 1, cache={"before_reads": "remount"})
    plan = SimpleNamespace(reads=(Files("f", 1),))  # which is not there: to look at it would fail
    found = rank_phases.prepare_caches_before_reads(plan, assignment, False, ranks)
    done = found.pop("remount")
    assert found == {"state": "cold-verified", "resident_bytes": 0, "bytes": 0}
    assert (done["mount"], done["host"]) == ("/t", "n1") and 0 <= done["seconds"] < 60 and done["at"].endswith("Z")


@pytest.mark.parametrize(
    ("refused", "kept", "state"),
    [
        (None, 0, "cold-verified"),
        (None, 4096, "warm"),
        ("drop_page_cache", 0, "cold-requested"),
        ("page_cache", 0, "cold-requested"),
    ],
)
def test_only_what_was_seen_is_verified(tmp_path, monkeypatch, refused, kept, state):
    (tmp_path / "f000000").write_bytes(b"x" * 8192)
    monkeypatch.setattr(_native, "page_cache", lambda _: (kept, 8192))
    if refused:
        monkeypatch.setattr(_native, refused, _refuse)
    monkeypatch.setattr(cache, "can_cache_elsewhere", lambda _: False)
    found = cache.check_after_drop(tmp_path, ["f000000"], cache.drop_files(tmp_path, ["f000000"]))
    assert found == {"state": state, "resident_bytes": kept, "bytes": 8192}


@pytest.mark.parametrize(
    ("kind", "source", "state"),
    [
        ("fuse.ceph-fuse", "ceph-fuse", "cold-requested"),
        ("fuse", "mfs#m:9421", "cold-requested"),
        ("fuse.bindfs", "/srv", "cold-requested"),
        ("nfs4", "n1:/x", "cold-requested"),
        ("xfs", "/dev/sda", "cold-verified"),
    ],
)
def test_the_page_cache_proves_nothing_of_a_client_that_may_have_its_own(tmp_path, monkeypatch, kind, source, state):
    """ceph-fuse read 600 MiB/s over a link of 113 MiB/s, of files of which mincore saw no page."""
    (tmp_path / "f000000").write_bytes(b"x")
    monkeypatch.setattr(_native, "page_cache", lambda _: (0, 1))
    there = cache.mount.Mount(str(tmp_path), kind, source, "", "", (0, 40), "/")
    monkeypatch.setattr(cache.mount, "find_mount", lambda _: there)
    assert cache.check_after_drop(tmp_path, ["f000000"], True)["state"] == state


def _refuse(_):
    raise OSError(errno.EINVAL, "no")


@pytest.mark.parametrize(
    ("kind", "hook", "state"),
    [
        ("ext4", "drop", "no-server"),
        ("fuse.bindfs", "drop", "no-server"),
        ("lustre", "", "warm"),
        ("fuse", "", "warm"),
        ("lustre", "drop", "cold-requested"),
        ("fuse.ceph-fuse", "drop", "cold-requested"),
    ],
)
def test_the_servers_cache_is_what_the_hook_was_asked_for(kind, hook, state):
    bench = SimpleNamespace(facts={"machine": {"mount": {"type": kind}}}, cache=CacheRegime(before_reads=hook))
    assert trial._describe_server_cache(bench) == state


def test_what_is_cached_of_files_that_are_gone_is_not_counted(tmp_path):
    (tmp_path / "there").write_bytes(b"x" * 4096)
    found = cache.measure_residency(tmp_path, ["gone", "there"])
    assert found["bytes"] == 4096 and found["state"] == "warm"


@pytest.mark.parametrize(
    ("pages", "elsewhere", "dropped", "found"),
    [
        ([(0, 5), (0, 7)], False, True, ("cold-verified", 0, 12)),
        ([(0, 5), (3, 7)], False, True, ("warm", 3, 12)),
        ([(2, 5), (3, 7)], True, True, ("warm", 5, 12)),
        ([(0, 5), (0, 7)], True, True, ("cold-requested", 0, 12)),
        ([(0, 5), (3, 7)], False, False, ("cold-requested", 3, 12)),
        ([(0, 5), None], False, True, ("cold-requested", 0, 5 + 2)),
    ],
)
def test_the_state_after_a_drop_by_hand(tmp_path, monkeypatch, pages, elsewhere, dropped, found):
    left = list(pages)
    (tmp_path / "b").write_bytes(b"xx")

    def look(path):
        page = left.pop(0)
        if page is None:
            raise OSError(errno.EINVAL, "no")
        return page

    monkeypatch.setattr(_native, "page_cache", look)
    monkeypatch.setattr(cache, "can_cache_elsewhere", lambda root: elsewhere if root == tmp_path else None)
    state = cache.check_after_drop(tmp_path, ["a", "b"], dropped)
    assert (state["state"], state["resident_bytes"], state["bytes"]) == found
    monkeypatch.setattr(_native, "page_cache", lambda path: (2, 5))
    assert cache.measure_residency(tmp_path, ["a", "b"]) == {"state": "warm", "resident_bytes": 4, "bytes": 10}


def test_all_files_are_dropped_also_after_one_that_was_refused(tmp_path, monkeypatch):
    dropped = []

    def drop(path):
        dropped.append(path)
        if path.endswith("a"):
            raise OSError(errno.EINVAL, "no")

    monkeypatch.setattr(_native, "drop_page_cache", drop)
    assert cache.drop_files(tmp_path, ["a", "b"]) is False and cache.drop_files(tmp_path, ["b"]) is True
    assert dropped == [str(tmp_path / name) for name in ("a", "b", "b")]
    written = []
    monkeypatch.setattr(_native, "sync_file_system", written.append)
    cache.write_out(tmp_path)
    assert written == [str(tmp_path)]


def test_a_mount_that_is_unknown_may_cache_elsewhere(monkeypatch):
    for entry, elsewhere in ((None, True), (SimpleNamespace(type="xfs", source="/dev/vda"), False)):
        monkeypatch.setattr(cache.mount, "find_mount", lambda _, entry=entry: entry)
        assert cache.can_cache_elsewhere("/t") is elsewhere


def test_the_warmest_state_of_several_nodes():
    order = ["cold-verified", "cold-requested", "warm", "served-by-cache"]
    for place, state in enumerate(order):
        assert cache.find_warmest_state(order[: place + 1]) == state
    assert cache.find_warmest_state([]) == "warm"


@pytest.mark.parametrize(
    ("path", "table", "found"),
    [
        ("/a/b", "1 0 8:1 / / rw\n2 1 8:2 / /a rw\n", ("2", "/a")),
        ("/ab", "1 0 8:1 / / rw\n2 1 8:2 / /a rw\n", ("1", "/")),
        ("/a", "2 1 8:2 / /a rw\n3 1 8:2 / /a rw\n", ("3", "/a")),
        ("/a/b", "3 1 8:2 / /a/b rw\n2 1 8:2 / /a rw\n", ("3", "/a/b")),
        ("/a", "2 1 8:2 / /a\n4 1 8:2 /\n", ("2", "/a")),
        ("/a", "", ("", "")),
    ],
)
def test_the_deepest_and_last_mount_of_a_path(path, table, found):
    assert mounted.mount_of(path, table) == found


def test_a_mount_has_the_kernels_unique_id_if_it_says_one(monkeypatch):
    calls = []

    def statx(directory, path, flags, mask, buffer):
        calls.append((directory, path, flags, mask))
        struct.pack_into("=I", buffer, 0, answer[0])
        struct.pack_into("=Q", buffer, 0x90, 77)
        return answer[1]

    answer = [0x4000, 0]
    monkeypatch.setattr(mounted.ctypes, "CDLL", lambda _: SimpleNamespace(statx=statx))
    assert mounted._read_unique_id("/a") == f"unique {77}" and calls == [(-100, b"/a", 0x4000, 0x4000)]
    answer[0] = 0
    assert mounted._read_unique_id("/a") == ""
    answer[:] = [0x4000, -1]
    assert mounted._read_unique_id("/a") == ""
    monkeypatch.setattr(mounted.ctypes, "CDLL", lambda _: SimpleNamespace())
    assert mounted._read_unique_id("/a") == ""


@pytest.mark.parametrize(
    ("lines", "kept", "cut", "text"),
    [
        # Lines of 8 bytes. The cut moves up to 8 bytes to the end of a line, so 24 bytes are not cut to 16.
        (3, 16, 0, None),
        (4, 16, 24, "line 00\nCUT 24\n"),
        (16, 40, 96, "line 00\nline 01\nCUT 96\nline 14\nline 15\n"),
        (16, 33, 104, "line 00\nline 01\nCUT 104\nline 15\n"),
        (16, 1000, 0, None),
    ],
)
def test_the_middle_of_an_output_is_cut_between_lines(tmp_path, monkeypatch, lines, kept, cut, text):
    monkeypatch.setattr(output, "_LINE_BYTES", 8)
    monkeypatch.setattr(output, "_PIECE_BYTES", 5)
    monkeypatch.setattr(output, "_MARK", b"CUT %d\n")
    path = tmp_path / "output"
    whole = "".join(f"line {number:02d}\n" for number in range(lines))
    path.write_text(whole)
    assert output.cut_middle(path, kept) == cut
    assert path.read_text() == (whole if text is None else text)
    assert output.cut_middle(tmp_path / "none", 5) == 0


def test_one_long_line_is_cut_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_LINE_BYTES", 8)
    monkeypatch.setattr(output, "_MARK", b"CUT %d\n")
    path = tmp_path / "output"
    path.write_text("x" * 100)
    expected = f"{'x' * 20}\nCUT 60\n{'x' * 20}"
    assert output.cut_middle(path, 40) == 60 and path.read_text() == expected


@pytest.mark.parametrize(
    ("size", "kept", "freed"), [(100, 40, (20, 60)), (40, 40, None), (41, 41, (20, 1)), (10, 40, None)]
)
def test_the_space_of_the_middle_is_freed(tmp_path, monkeypatch, size, kept, freed):
    calls = []

    def fallocate(handle, mode, start, length):
        calls.append((mode, start.value, length.value))

    monkeypatch.setattr(output.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(fallocate=fallocate))
    path = tmp_path / "output"
    path.write_bytes(b"x" * size)
    with path.open("r+b") as file:
        output.free_middle(file.fileno(), kept)
    assert calls == ([(3, *freed)] if freed else [])


def test_joined_parts_of_several_kinds():
    def record(**more):
        fields = {"started_ns": 0, "ended_ns": 0, "stopped": "time", "complete": False, "totals": [], "errors": []}
        return SimpleNamespace(
            **fields | {"histograms": {}, "operations": np.zeros((0, 4), np.uint64), "extra_bytes": 0} | more
        )

    def total(kind, count, first, last):
        return {"kind": kind, **dict.fromkeys(wear_out.SUMMED, count), "first_start_ns": first, "last_end_ns": last}

    before = record(totals=[total(1, 5, 10, 20)], errors=["a"], histograms={1: ([3, 5], [1, 2])}, extra_bytes=4)
    after = record(
        started_ns=30,
        ended_ns=50,
        stopped="count",
        totals=[total(1, 2, 30, 15), total(2, 1, 40, 50)],
        errors=["b"],
        histograms={1: ([2, 5], [4, 1]), 2: ([0], [7])},
        extra_bytes=3,
    )
    joined = wear_out.join_phase_parts(before, after)
    assert joined.totals == [total(1, 7, 10, 20), total(2, 1, 40, 50)]
    assert (joined.started_ns, joined.ended_ns, joined.stopped, joined.errors) == (30, 50, "count", ["a", "b"])
    found = {kind: (buckets.tolist(), counts.tolist()) for kind, (buckets, counts) in joined.histograms.items()}
    assert found == {1: ([2, 3, 5], [4, 1, 3]), 2: ([0], [7])}
    assert joined.extra_bytes == 7 and joined.complete is False and joined.operations is before.operations
