"""What killed or hanging ranks leave is removed, or remembered until nobody holds it; nothing of others is touched."""

import contextlib
import json
import os
import time

import pytest

from iosonde.measure import trial
from iosonde.measure.rank import command
from iosonde.ranks import leftovers, watchdog


@pytest.fixture
def left(tmp_path, monkeypatch):
    """A file that counts as one of Hydra's, held by nobody."""
    prefix = str(tmp_path / "hydra_")
    monkeypatch.setattr(leftovers, "_HYDRA_FILE", prefix)
    path = tmp_path / "hydra_abc"
    path.touch()
    return path


def entry_of(path):
    status = path.stat()
    return (str(path), status.st_dev, status.st_ino)


def test_what_a_full_disk_could_not_record_is_removed_from_memory(left, tmp_path):
    absent = tmp_path / "absent"
    with left.open() as _:
        seen = leftovers.record_open_files(absent, "launch", [os.getpid()])
        assert leftovers.remove_recorded(absent, seen) == []  # it is held
    assert seen == [entry_of(left)]
    assert leftovers.remove_recorded(absent, seen) == [str(left)]
    assert not left.exists()


def test_another_file_of_the_same_name_stays(left, tmp_path):
    path, device, inode = entry_of(left)
    assert leftovers.remove_recorded(tmp_path, [(path, device, inode + 1)]) == []
    assert left.exists()


def test_what_is_held_is_remembered_until_nobody_holds_it(left, tmp_path):
    file = tmp_path / "left.json"
    leftovers.remember_files(file, [])
    assert not file.exists()
    leftovers.remember_files(file, [entry_of(left)])
    with left.open() as _:
        assert leftovers.remove_remembered(file) == []
        assert file.exists()
    assert leftovers.remove_remembered(file) == [str(left)]
    assert not file.exists()


def test_what_was_remembered_on_another_machine_is_not_touched(left, tmp_path, monkeypatch):
    file = tmp_path / "left.json"
    leftovers.remember_files(file, [entry_of(left)])
    monkeypatch.setattr(leftovers, "_read_boot_id", lambda: "another")
    assert leftovers.remove_remembered(file) == []
    assert left.exists() and file.exists()
    file.write_text("{")
    assert leftovers.remove_remembered(file) == []


def test_descriptions_that_nobody_recorded_are_removed_if_young_and_unheld(left):
    prefix = str(left.parent / "hydra_")
    assert leftovers.remove_descriptions(time.time() + 60, prefix) == []
    with left.open() as _:
        assert leftovers.remove_descriptions(0, prefix) == []
    assert leftovers.remove_descriptions(0, prefix) == [str(left)]


def test_what_a_rank_that_hangs_holds_is_named(tmp_path):
    held = (("/dev/shm/mpich_shm_x", 1, 2),)
    ended = watchdog.Outcome(137, 9.0, True, [], "", 9, watchdog.IDLE, leftover_pids=(7,), open_files=held)
    said = trial._explain_failure(tmp_path, ended, {})
    assert "/dev/shm/mpich_shm_x" in said[-1] and len([one for one in said if "/dev/shm" in one]) == 1


@pytest.mark.parametrize(
    ("reason", "left", "limit_s"),
    [("", (), 30.0), (watchdog.LOST, (), 30.0), (watchdog.IDLE, (), trial.SOON_S), (watchdog.IDLE, (7,), 2.0)],
)
def test_a_rescue_ends_within_what_is_promised(reason, left, limit_s):
    ended = watchdog.Outcome(137, 9.0, bool(reason), [], "", 9, reason, leftover_pids=left)
    assert trial.compute_rescue_limit_s(ended, 30.0) == limit_s


@pytest.mark.parametrize(
    ("blocks", "free", "full"), [(0, 0, False), (-1, -1, False), (1000, 0, True), (1000, 999, False)]
)
def test_memory_without_a_limit_is_not_full(tmp_path, monkeypatch, blocks, free, full):
    """A tmpfs without a limit counts nothing: 0 of 0 blocks are free."""
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, blocks, free, free, 0, 0, 0, 0, 255)))
    assert bool(leftovers.explain_bus_error(tmp_path)) == bool(command._explain_full(tmp_path)) == full


def test_shared_memory_that_nobody_uses_any_more_is_removed(tmp_path):
    import mmap

    since = time.time() - 60
    for name in ("mpich_shm_1_0", "mpich_shm_2_0", "vader_segment.n1.7", "somebody_elses"):
        (tmp_path / name).write_bytes(bytes(4096))
    (tmp_path / "mpich_shm_link").symlink_to(tmp_path / "somebody_elses")
    with (tmp_path / "mpich_shm_2_0").open("r+b") as file, mmap.mmap(file.fileno(), 0):
        assert leftovers.remove_segments(time.time() + 60, tmp_path) == []
        assert leftovers.remove_segments(since, tmp_path) == ["mpich_shm_1_0", "vader_segment.n1.7"]
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["mpich_shm_2_0", "mpich_shm_link", "somebody_elses"]
    assert leftovers.remove_segments(since, tmp_path / "absent") == []


def test_what_was_held_is_removed_and_nothing_else(tmp_path, monkeypatch):
    """As after kill -9 of everything: the spool has the record, a later run of the same experiment removes."""
    import mmap

    monkeypatch.setattr(leftovers, "_HYDRA_FILE", f"{tmp_path}/tmp/hydra_hwloc_xmlfile_")
    monkeypatch.setattr(leftovers, "SHARED_MEMORY", tmp_path / "shm")
    for name in ("tmp", "shm", "spool"):
        (tmp_path / name).mkdir()
    names = [
        "shm/mpich_shm_1_0",
        "shm/mpich_shm_2_0",
        "shm/other",
        "tmp/hydra_hwloc_xmlfile_a",
        "tmp/hydra_hwloc_xmlfile_b",
        "tmp/hydra_hwloc_xmlfile_foreign",
    ]
    for name in names:
        (tmp_path / name).write_bytes(bytes(4096))
    with contextlib.ExitStack() as held:
        for name in ("shm/mpich_shm_1_0", "shm/other"):
            file = held.enter_context((tmp_path / name).open("r+b"))
            held.enter_context(mmap.mmap(file.fileno(), 0))
        for name in ("tmp/hydra_hwloc_xmlfile_a", "tmp/hydra_hwloc_xmlfile_b"):
            held.enter_context((tmp_path / name).open())
        leftovers.record_open_files(tmp_path / "spool", "node-0", [os.getpid()])
        assert leftovers.remove_recorded(tmp_path / "spool") == []  # held still
    (tmp_path / "tmp/another").write_bytes(b"of somebody else, under the same name")
    (tmp_path / "tmp/another").rename(tmp_path / "tmp/hydra_hwloc_xmlfile_b")
    (tmp_path / "spool/held-damaged.json").write_text('[["/etc/passwd", 1')
    removed = leftovers.remove_recorded(tmp_path / "spool")
    assert removed == [f"{tmp_path}/shm/mpich_shm_1_0", f"{tmp_path}/tmp/hydra_hwloc_xmlfile_a"]
    assert sorted(path.name for path in (tmp_path / "shm").iterdir()) == ["mpich_shm_2_0", "other"]
    assert {path.name for path in (tmp_path / "tmp").iterdir()} == {
        "hydra_hwloc_xmlfile_b",
        "hydra_hwloc_xmlfile_foreign",
    }
    assert leftovers.remove_recorded(tmp_path / "absent") == []


def test_a_record_cannot_name_what_is_not_left_by_mpi(tmp_path):
    keep = tmp_path / "mpich_shm_1"
    keep.write_bytes(b"")
    status = keep.stat()
    record = [
        [str(keep), status.st_dev, status.st_ino],
        [f"/dev/shm/mpich_shm_/../..{keep}", status.st_dev, status.st_ino],
    ]
    (tmp_path / "held-x.json").write_text(json.dumps(record))
    assert leftovers.remove_recorded(tmp_path) == []
    assert keep.exists()
