"""Only regular files are read, whole, and a walk reports what it leaves out."""

import errno
import os
import socket

import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.foreign import reading, walking
from messages import raises


def test_a_file_is_read_whole_or_as_far_as_asked(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc\xff")
    assert reading.read_bytes(path) == b"abc\xff"
    assert reading.read_bytes(path, limit=2) == b"ab"
    assert reading.read_text(path) == "abc\ufffd"


def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    for path in (tmp_path / "fifo", tmp_path / "socket", tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError) as caught:
            reading.read_bytes(path)
        assert str(path) in caught.value.message and caught.value.hint


def test_a_file_that_ends_early_is_no_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    real = os.fstat

    def promises_more(descriptor):
        status = list(real(descriptor))
        status[6] = 10
        return os.stat_result(status)

    monkeypatch.setattr(reading.os, "fstat", promises_more)
    with raises("truncated-file", DataError, read_bytes=3, expected_bytes=10):
        reading.read_bytes(path)
    assert reading.read_bytes(path, limit=3) == b"abc"


def test_a_walk_yields_regular_files_in_order_and_follows_no_link(tmp_path):
    for name in ("b/2", "b/1", "a/x/deep", "c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    skipped = []
    files = walking.walk_files(tmp_path, lambda *skip: skipped.append(skip), lambda path: path.name == "x")
    assert [path.relative_to(tmp_path).as_posix() for path in files] == ["c", "b/1", "b/2"]
    assert skipped == []


def test_a_walk_reports_what_it_cannot_read(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    real = os.scandir

    def refuses(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(walking.os, "scandir", refuses)
    skipped = []
    assert list(walking.walk_files(tmp_path, lambda *skip: skipped.append(skip))) == []
    assert skipped == [(tmp_path / "closed", os.strerror(errno.EACCES))]
