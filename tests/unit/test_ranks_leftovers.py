"""What killed or hanging ranks leave is removed, or remembered until nobody holds it; nothing of others is touched."""

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
