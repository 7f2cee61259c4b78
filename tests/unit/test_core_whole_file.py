"""A file that is written appears whole or not at all, and what was there stays until then."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.whole_file import replace_file, write_atomically
from messages import raises


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("ours"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, b"old"])
def test_what_ends_half_way_leaves_what_was_there_and_nothing_beside_it(tmp_path, before, error):
    path = tmp_path / "page.html"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(SystemFaultError if isinstance(error, OSError) else type(error)), write_atomically(path) as file:
        file.write(b"half")
        file.flush()
        raise error
    assert [one.read_bytes() for one in tmp_path.iterdir()] == ([] if before is None else [before])


def test_it_is_there_with_the_rights_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        assert replace_file(tmp_path / "f", b"new").read_bytes() == b"new"
    finally:
        os.umask(mask)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    replace_file(tmp_path / "pipe", b"through")
    assert os.read(reading, 99) == b"through"
    os.close(reading)


@pytest.mark.parametrize("place", ["absent/f", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path, place):
    with raises("unwritable-file", InputError, path=tmp_path / place):
        replace_file(tmp_path / place, b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_no_mistake_of_the_user():
    with raises("unwritable-file", SystemFaultError, path=Path("/dev/full")):
        replace_file(Path("/dev/full"), b"x")


@pytest.mark.parametrize("name", ["out", "x" * 250])
def test_the_next_one_removes_what_a_killed_one_left(tmp_path, name):
    pid = os.fork()
    if not pid:
        with write_atomically(tmp_path / name):
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    replace_file(tmp_path / name, b"new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_files_of_others_and_of_a_live_process_stay(tmp_path):
    """Two write one file at once, and names begin alike."""
    pid = os.fork()
    if not pid:
        with write_atomically(tmp_path / "out-a"):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    (tmp_path / ".out-mine").touch()
    with write_atomically(tmp_path / "out") as first, write_atomically(tmp_path / "out") as last:
        first.write(b"first")
        last.write(b"last")
    assert (tmp_path / "out").read_bytes() == b"first"
    (killed,) = [path.name for path in tmp_path.iterdir() if path.name not in ("out", ".out-mine")]
    assert killed.startswith(".out-a-")
