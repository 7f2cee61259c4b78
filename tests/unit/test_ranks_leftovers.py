"""What killed or hanging ranks leave is removed, or remembered until nobody holds it; nothing of others is touched."""

import contextlib
import json
import os
import time
from types import SimpleNamespace

import pytest

from iosonde.measure import trial
from iosonde.measure.rank import command
from iosonde.ranks import leftovers, temporary, watchdog


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


@pytest.mark.parametrize(("free_bytes", "full"), [(0, True), (2**20 - 4096, True), (2**20, False), (2**21, False)])
def test_less_than_a_segment_is_full(monkeypatch, tmp_path, free_bytes, full):
    free = free_bytes // 4096
    status = SimpleNamespace(f_bavail=free, f_blocks=1024, f_frsize=4096)
    monkeypatch.setattr(leftovers.os, "statvfs", lambda path: status)
    said = leftovers.explain_bus_error(tmp_path)
    assert bool(said) is full
    if full:
        assert (said.code, said.values["directory"], said.values["total"]) == ("shared-memory-full", tmp_path, "4 MiB")

    def fail(path):
        raise OSError

    monkeypatch.setattr(leftovers.os, "statvfs", fail)
    assert leftovers.explain_bus_error(tmp_path) == ""


@pytest.mark.parametrize(
    ("path", "is_leftover"),
    [
        ("/dev/shm/mpich_shm_1", True),
        ("/dev/shm/vader_segment.n1", True),
        ("/dev/shm/sm_segment.n1", True),
        ("/dev/shm/Intel_MPI_x", True),
        ("/dev/shm/ucx_shm_posix_x", True),
        ("/dev/shm/psm2_shm.x", True),
        ("/tmp/hydra_hwloc_xmlfile_x", True),
        ("/dev/shm/other", False),
        ("/dev/shm/x/mpich_shm_1", False),
        ("/tmp/mpich_shm_1", False),
        ("/dev/shm/mpich_shm_/../x", False),
        ("", False),
    ],
)
def test_what_mpi_leaves_is_known_by_its_path(path, is_leftover):
    assert leftovers._is_leftover(path) is is_leftover


def test_only_this_users_own_unchanged_files_are_removed(left, tmp_path, monkeypatch):
    path, device, inode = entry_of(left)
    link = tmp_path / "hydra_link"
    link.symlink_to(left)
    status = link.lstat()
    for entry, same in (
        ((path, device, inode), True),
        ((path, device + 1, inode), False),
        ((path, device, inode + 1), False),
        ((str(tmp_path / "hydra_gone"), device, inode), False),
        ((str(link), status.st_dev, status.st_ino), False),
    ):
        assert leftovers._is_same(entry) is same
    monkeypatch.setattr(leftovers.os, "getuid", lambda: left.stat().st_uid + 1)
    assert not leftovers._is_same((path, device, inode))


@pytest.mark.parametrize(
    ("content", "entries"),
    [
        ('[["/a", 1, 2], ["/b", 3, 4]]', [("/a", 1, 2), ("/b", 3, 4)]),
        ('[["/a", 1]]', []),
        ("7", []),
        ("[", []),
        (None, []),
    ],
)
def test_a_record_is_read_whole_or_not_at_all(tmp_path, content, entries):
    file = tmp_path / "held-left.json"
    if content is not None:
        file.write_text(content)
    assert leftovers._read_entries(file) == entries
    assert leftovers.list_remaining_files(tmp_path) == []


def test_files_of_processes_that_could_not_be_ended_remain(left, tmp_path):
    gone = (str(tmp_path / "hydra_gone"), 1, 2)
    (tmp_path / "held-left.json").write_text(json.dumps([entry_of(left), gone]))
    (tmp_path / "held-other.json").write_text(json.dumps([entry_of(left)]))
    assert leftovers.list_remaining_files(tmp_path) == [entry_of(left)]


def test_what_is_remembered_grows_and_shrinks(left, tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers.reading, "list_pids", lambda: [os.getpid()])
    file, other, elsewhere = tmp_path / "left.json", (str(tmp_path / "hydra_x"), 1, 2), ("/dev/shm/x", 3, 4)
    monkeypatch.setattr(leftovers, "_read_boot_id", lambda: "boot-2")
    leftovers.remember_files(file, [elsewhere])
    monkeypatch.setattr(leftovers, "_read_boot_id", lambda: "boot-1")
    leftovers.remember_files(file, [other])
    leftovers.remember_files(file, [entry_of(left)])
    assert leftovers._read_remembered(file) == {elsewhere: "boot-2", other: "boot-1", entry_of(left): "boot-1"}
    with left.open() as _:
        assert leftovers.remove_remembered(file) == []
    assert leftovers._read_remembered(file) == {elsewhere: "boot-2", entry_of(left): "boot-1"}
    assert leftovers.remove_remembered(file) == [str(left)]
    assert json.loads(file.read_text()) == [[*elsewhere, "boot-2"]]


def test_segments_are_looked_at_twice_before_they_are_removed(tmp_path, monkeypatch):
    first, second = ({tmp_path / name for name in names} for names in (("a", "b"), ("b", "c")))
    for name in "abc":
        (tmp_path / name).touch()
    answers, calls, slept = iter([first, second]), [], []
    monkeypatch.setattr(leftovers, "find_unused_segments", lambda *some: calls.append(some) or next(answers))
    monkeypatch.setattr(leftovers, "time", SimpleNamespace(sleep=slept.append))
    assert leftovers.remove_segments(7.0, tmp_path) == ["b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
    assert (calls, slept) == ([(7.0, tmp_path)] * 2, [0.1])
    monkeypatch.setattr(leftovers, "find_unused_segments", lambda *some: set())
    assert (leftovers.remove_segments(7.0, tmp_path), slept) == ([], [0.1])


def test_segments_are_young_files_of_this_user_that_nobody_has_mapped(tmp_path, monkeypatch):
    for name in ("mpich_shm_1", "psm2_shm.2", "other"):
        (tmp_path / name).touch()
    (tmp_path / "mpich_shm_folder").mkdir()
    changed = (tmp_path / "mpich_shm_1").stat().st_ctime
    monkeypatch.setattr(leftovers, "_list_mapped", lambda directory: {f"{directory}/psm2_shm.2"})
    assert leftovers.find_unused_segments(0, tmp_path) == {tmp_path / "mpich_shm_1"}
    assert leftovers.find_unused_segments(changed, tmp_path) == {tmp_path / "mpich_shm_1"}
    assert leftovers.find_unused_segments(changed + 0.001, tmp_path) == set()
    monkeypatch.setattr(leftovers.os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    assert leftovers.find_unused_segments(0, tmp_path) == set()


def test_descriptions_are_young(left, monkeypatch):
    monkeypatch.setattr(leftovers.reading, "list_pids", lambda: [os.getpid()])
    prefix, changed = str(left.parent / "hydra_"), left.stat().st_ctime
    assert leftovers.remove_descriptions(changed + 0.001, prefix) == []
    assert leftovers.remove_descriptions(changed, prefix) == [str(left)]


def test_after_a_failure_segments_and_descriptions_are_removed(monkeypatch):
    calls = []
    monkeypatch.setattr(leftovers, "remove_segments", lambda since: calls.append(("segments", since)))
    monkeypatch.setattr(leftovers, "remove_descriptions", lambda since: calls.append(("descriptions", since)))
    leftovers.remove_since(7.0)
    assert calls == [("segments", 7.0), ("descriptions", 7.0)]


def test_stale_directories_are_those_of_ended_processes_of_this_user(tmp_path, monkeypatch):
    removed = []
    monkeypatch.setattr(temporary, "remove_directory", removed.append)
    monkeypatch.setattr(temporary, "is_gone", lambda identity: identity == "boot:1:2:3")
    names = ("iosonde-x-boot+1+2+3-abc", "iosonde-x-boot+1+2+4-abc", "iosonde-y-boot+1+2+3-abc", "iosonde-x-abc")
    for name in names:
        (tmp_path / name).mkdir()
    temporary.remove_stale_directories("x", tmp_path)
    assert removed == [tmp_path / names[0]]
    monkeypatch.setattr(temporary.os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    temporary.remove_stale_directories("x", tmp_path)
    assert len(removed) == 1


def test_a_directory_of_a_killed_process_is_removed_with_what_its_processes_left(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(temporary.leftovers, "remove_recorded", lambda path: calls.append(("recorded", path)))
    monkeypatch.setattr(temporary.leftovers, "remove_since", lambda since: calls.append(("since", since)))
    monkeypatch.setattr(temporary, "remove_scratch", lambda path: calls.append(("scratch", path)))
    temporary.remove_directory(tmp_path)
    assert calls == [("recorded", tmp_path), ("scratch", tmp_path)]
    for name, time_s in (("a", 30), ("b", 20), ("c", 40)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time_s, time_s))
    calls.clear()
    temporary.remove_directory(tmp_path)
    assert calls == [("recorded", tmp_path), ("since", 20.0), ("scratch", tmp_path)]
