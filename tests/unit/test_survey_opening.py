"""A drawn file that is another by now, is gone, may not be read or is on tape gives no answer, and none is opened."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from iosonde.survey import contents, opening
from iosonde.survey.contents import Contents, LookOptions, measure_contents
from iosonde.survey.opening import WalkedFile
from iosonde.survey.readers import Patience, measure_all_contents
from iosonde.survey.walk import WalkOptions, walk_tree
from messages import raises

ZLIB = LookOptions(("gzip:6",), 0)


def seen(path) -> WalkedFile:
    stat = path.stat()
    return WalkedFile(
        os.fsencode(path.name), stat.st_size, stat.st_blocks * 512, stat.st_dev, stat.st_ino, stat.st_mtime_ns
    )


@pytest.fixture
def root(tmp_path):
    handle = os.open(tmp_path, os.O_PATH)
    yield handle
    os.close(handle)


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "file"
    made.write_text("some text\n" * 1000)
    os.utime(made, (1_000_000_000, 1_000_000_000))
    return made


def test_a_file_that_is_as_it_was(root, file):
    found = measure_contents(root, seen(file), ZLIB)
    assert (found.kind, found.why, found.pieces[0].size) == ("text", "", 10_000)
    assert found.pieces[0].compressed["gzip:6"] < 500
    assert file.stat().st_atime == 1_000_000_000 and not found.touched


def test_one_that_changed_vanished_or_is_a_link_now(root, file, tmp_path):
    before = seen(file)
    file.write_text("longer than before\n" * 1000)
    assert measure_contents(root, before, ZLIB).why == "changed"
    file.unlink()
    assert measure_contents(root, before, ZLIB).why == "vanished"
    (tmp_path / "other").write_text("secret")
    file.symlink_to("other")
    assert measure_contents(root, before, ZLIB).why == "changed"
    file.unlink()
    os.mkfifo(file)
    assert measure_contents(root, before, ZLIB).why == "changed"


def test_a_directory_on_the_way_that_became_a_link_is_not_followed(root, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("text")
    inside = seen(tmp_path / "real" / "file")
    (tmp_path / "link").symlink_to("real")
    assert measure_contents(root, replace(inside, path=b"real/file"), ZLIB).kind == "text"
    assert measure_contents(root, replace(inside, path=b"link/file"), ZLIB).why == "vanished"


def test_a_file_without_a_block_is_never_opened(root, tmp_path, monkeypatch):
    hole = tmp_path / "hole"
    hole.touch()
    os.truncate(hole, 1 << 20)
    assert hole.stat().st_blocks == 0
    monkeypatch.setattr(opening, "_reopen_for_reading", lambda *_: pytest.fail("opened"))
    walked = seen(hole)
    assert measure_contents(root, walked, ZLIB).why == "released"
    assert measure_contents(root, replace(walked, allocated=4096), ZLIB).why == "released", (
        "moved to tape since the walk"
    )


def test_what_changes_while_it_is_read_gives_no_answer(root, file, monkeypatch):
    before = seen(file)
    read = os.pread

    def written(fd, size, offset):
        with file.open("a") as end:
            end.write("x")
        return read(fd, size, offset)

    monkeypatch.setattr(os, "pread", written)
    assert measure_contents(root, before, ZLIB).why == "changed"


@pytest.mark.parametrize(("error", "why"), [(PermissionError(13, "no"), "denied"), (OSError(5, "EIO"), "failed")])
def test_one_that_cannot_be_read(root, file, monkeypatch, error, why):
    def fails(there, calls):
        raise error

    monkeypatch.setattr(opening, "_reopen_for_reading", fails)
    assert measure_contents(root, seen(file), ZLIB).why == why


def test_others_files_are_read_and_their_access_time_is_said_to_change(root, file, monkeypatch):
    real = os.open

    def refuses(path, flags, *rest, **more):
        if flags & os.O_NOATIME:
            raise PermissionError(1, "not the owner")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuses)
    assert measure_contents(root, seen(file), ZLIB).touched


def test_no_descriptor_stays_open(root, file, tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    good = seen(file)
    bad = WalkedFile(b"none/at/all", 5, 4096, 1, 1, 1)
    measure_all_contents(root, [good, bad] * 20, ZLIB, Patience(60.0))
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("asked", [ZLIB, LookOptions((), 0)])
def test_a_file_that_gives_fewer_bytes_than_its_size_gives_no_answer(root, file, monkeypatch, asked):
    before = seen(file)
    monkeypatch.setattr(contents, "read_timed", lambda fd, offset, size: (b"", 1, None))
    monkeypatch.setattr(os, "pread", lambda fd, size, offset: b"")
    assert measure_contents(root, before, asked) == Contents(None, why="short")
    os.truncate(file, 100)
    assert measure_contents(root, replace(before, size=100), asked).why == "changed"


def test_a_large_file_is_read_in_pieces_the_same_ones_for_the_same_seed(root, tmp_path):
    large = tmp_path / "large"
    large.write_bytes(os.urandom(1 << 19) + bytes(15 << 19))
    one, two = (measure_contents(root, seen(large), LookOptions(("gzip:6",), 3)) for _ in range(2))
    assert len(one.pieces) == 4 and one.read_bytes < 1 << 21
    assert [piece.compressed for piece in one.pieces] == [piece.compressed for piece in two.pieces]
    assert one.pieces[3].zeros == one.pieces[3].blocks == 64


def test_names_that_are_no_text(tmp_path):
    hostile = [b"\x1b[31mred", b"new\nline", b"\xff\xfe", b"a b"]
    for name in hostile:
        (tmp_path / os.fsdecode(name)).write_text("text")
    walked = walk_tree(WalkOptions(str(tmp_path), 0, 10))
    assert sorted(walked.by_count.paths) == sorted(hostile)


def test_a_tree_that_is_not_there(tmp_path):
    for wrong in ("/nowhere/at/all", "a\0b"):
        with raises("unreadable-directory") as error:
            walk_tree(WalkOptions(wrong, 0, 10))
        assert error.value.hint
    (tmp_path / "file").touch()
    with raises("unreadable-directory", reason="Not a directory"):
        walk_tree(WalkOptions(str(tmp_path / "file"), 0, 10))
