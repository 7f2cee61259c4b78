"""What is done to the caches before a read, in which order, and what is said about it afterwards."""

import errno
from types import SimpleNamespace

import pytest

from iosonde.core.workload import Files
from iosonde.engine import _native
from iosonde.measure import trial
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import cache
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
