"""What a child does with a path, without the child: looks, copies, kinds, answers, limits, leftovers."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from iosonde.core import temporary_names
from iosonde.core.errors import DataError, InputError, SystemFaultError, TargetError
from iosonde.foreign import child_program, guarded, mounts, reach, reading, removal, walking
from iosonde.foreign import guarded_operations as operations
from messages import raises


@pytest.fixture
def tree(tmp_path) -> Path:
    for name, size in (("a/one", 3), ("a/two", 5), ("left/three", 7), ("b", 1)):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(b"x" * size)
    (tmp_path / "tree" / "link").symlink_to("b")
    return tmp_path / "tree"


def test_a_look_lists_files_with_their_sizes_and_leaves_one_directory_out(tree):
    look = operations.look(str(tree), str(tree / "left"))
    assert look == {
        "kind": "directory",
        "files": [(str(tree / "b"), 1), (str(tree / "a/one"), 3), (str(tree / "a/two"), 5)],
        "skipped": [],
    }
    assert operations.look(str(tree / "b"), "") == {"kind": "file", "files": [(str(tree / "b"), 1)], "skipped": []}
    assert operations.look(str(tree / "gone"), "") == {"kind": "missing", "files": [], "skipped": []}


def test_a_look_reports_what_it_could_not_read(tree, monkeypatch):
    real = Path.stat

    def refuse(path, **more):
        if path.name == "one":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, **more)

    monkeypatch.setattr(Path, "stat", refuse)
    look = operations.look(str(tree / "a"), "")
    assert (look["files"], look["skipped"]) == (
        [(str(tree / "a/two"), 5)],
        [(str(tree / "a/one"), "Permission denied")],
    )


def test_the_kind_of_a_path(tree):
    kinds = [operations.kind(str(tree / name)) for name in ("a", "b", "link", "gone", "b/x", "x" * 300)]
    assert kinds == ["directory", "file", "file", "missing", "missing", "missing"]
    assert [guarded.detect_path_kind(tree / name) for name in ("a", "b", "gone")] == ["directory", "file", "missing"]
    with pytest.raises(ValueError, match="null"):
        operations.kind("\0")


def test_a_path_is_inspected_relative_to_what_was_given(tree, monkeypatch):
    monkeypatch.chdir(tree)
    look = guarded.inspect_path(Path("a"), tree / "left")
    assert look == guarded.Look("directory", ((Path("a/one"), 3), (Path("a/two"), 5)), ())


@pytest.mark.parametrize(("limit", "content"), [(10, b"xxxxx"), (5, b"xxxxx"), (2, b"xx"), (0, b"")])
def test_a_copy_is_whole_or_as_long_as_asked(tree, tmp_path, limit, content):
    before = operations.progress()
    assert operations.copy(str(tree / "a/two"), str(tmp_path / "copy"), limit) == len(content)
    assert (tmp_path / "copy").read_bytes() == content
    assert operations.progress() == before + bool(content)


def test_a_file_that_ends_before_its_size_is_refused(tree):
    operations.check_complete(tree, 5, 5)
    with raises("truncated-file", DataError, read_bytes=4, expected_bytes=5, path=tree):
        operations.check_complete(tree, 4, 5)
    with pytest.raises(DataError), guarded.open_checked(tree / "a/two") as file:
        os.truncate(tree / "a/two", 2)
        assert file.read() == b"xx"


@pytest.mark.parametrize("limit", [None, 2, 9])
def test_a_file_that_is_not_read_to_its_end_is_whole(tree, limit):
    with guarded.open_checked(tree / "a/two", limit) as file:
        assert file.read(1) == b"x"


def test_the_begin_of_a_file_or_nothing(tree):
    assert guarded.begin_of(tree / "a/two", 3) == b"xxx"
    assert [guarded.begin_of(tree / name, 3) for name in ("gone", "a")] == [b"", b""]


def test_a_mount_that_does_not_answer_is_not_asked_again(tree, monkeypatch):
    calls = []

    class Silent:
        limit_s = 0.0

        def call(self, operation, path, what, /, **arguments):
            calls.append((operation, path, arguments, self.limit_s))
            raise guarded.NoAnswerError("no-response", "{path} does not answer", path=path)

    silent = Silent()
    monkeypatch.setattr(guarded, "find_waiting_mount", lambda path: "/mnt")
    monkeypatch.setattr(guarded, "_get_child", lambda pid: silent)
    monkeypatch.setattr(guarded, "_silent_mounts", {})
    monkeypatch.setattr(guarded, "limit_s", 7.0)
    for code_values in ({}, {"mount": "/mnt"}):
        with raises("no-response", guarded.NoAnswerError, path=tree / "a", **code_values):
            guarded.detect_path_kind(tree / "a")
    assert calls == [("kind", str(tree / "a"), {"path": str(tree / "a")}, 7.0)]
    guarded.forget_silence()
    with pytest.raises(guarded.NoAnswerError):
        guarded.inspect_path(tree / "a", tree / "left")
    assert calls[1] == ("look", str(tree / "a"), {"path": str(tree / "a"), "leave_out": str(tree / "left")}, 7.0)


def test_a_copy_of_a_waiting_mount_has_a_limit_and_names_the_path_as_given(tree, monkeypatch):
    class Answering:
        limit_s = 0.0

        def call(self, operation, path, what, /, **arguments):
            return operations.OPERATIONS[operation](**arguments)

    answering = Answering()
    monkeypatch.setattr(guarded, "find_waiting_mount", lambda path: "/mnt")
    monkeypatch.setattr(guarded, "_get_child", lambda pid: answering)
    monkeypatch.setattr(guarded, "MAX_COPY_BYTES", 5)
    monkeypatch.chdir(tree)
    with guarded.open_checked(Path("a/two")) as file:
        assert file.read() == b"xxxxx"
    with guarded.open_checked(Path("left/three"), 2) as file:
        assert file.read() == b"xx"
    with raises("file-too-large", InputError, path="left/three"), guarded.open_checked(Path("left/three")):
        pass
    with raises("not-a-regular-file", InputError, path="a", kind="a directory"), guarded.open_checked(Path("a")):
        pass
    assert guarded.inspect_path(Path("a"), tree / "left").files == ((Path("a/one"), 3), (Path("a/two"), 5))


def answer(error: BaseException) -> dict:
    def fail(**arguments):
        raise error

    return child_program.answer({"fail": fail}, {"operation": "fail", "arguments": {}})["error"]


def test_a_child_answers_or_says_which_fault_it_had():
    request = {"operation": "add", "arguments": {"a": 1, "b": 2}}
    assert child_program.answer({"add": lambda a, b: a + b}, request) == {"answer": 3}
    own = answer(TargetError("no-space", "{place} is full", "make room", place="/mnt"))
    assert (own["kind"], own["code"], own["values"]) == ("TargetError", "no-space", {"place": "/mnt"})
    system = answer(OSError(errno.EIO, "Input/output error", "/mnt/x"))
    assert (system["kind"], system["code"], system["message"]) == (
        "TargetFaultError",
        "io-error",
        "/mnt/x: Input/output error",
    )
    assert answer(OSError("odd"))["message"] == "odd"
    bug = answer(KeyError("a\n b"))
    assert (bug["kind"], bug["code"], bug["values"]["kind"]) == ("SystemFaultError", "internal-error", "KeyError")
    assert "\n" not in bug["message"]


def test_a_pipe_is_copied_up_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 5)
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 2)
    for content in (b"12345", b""):
        (tmp_path / "source").write_bytes(content)
        assert reading.copy_pipe((tmp_path / "source").open("rb"), Path("pipe"), tmp_path / "copy") == len(content)
        assert (tmp_path / "copy").read_bytes() == content
    (tmp_path / "source").write_bytes(b"123456")
    with raises("file-too-large", InputError, path="pipe", max_bytes="5 B"):
        reading.copy_pipe((tmp_path / "source").open("rb"), Path("pipe"), tmp_path / "copy")


def test_a_pipe_of_this_process_is_read_by_its_number(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"abc")
    os.close(writer)
    try:
        with reading.open_file(Path(f"/dev/fd/{reader}")) as file:
            assert file.read() == b"abc"
        (tmp_path / "file").write_bytes(b"x")
        with (tmp_path / "file").open() as plain:
            assert reading.open_pipe(Path(f"/dev/fd/{plain.fileno()}")) is None
    finally:
        os.close(reader)
    assert [reading.open_pipe(Path(path)) for path in (f"/dev/fd/{reader}", "/dev/fd/x", "/tmp")] == [None] * 3


@pytest.mark.parametrize(
    ("number", "kind", "code"),
    [
        (errno.ENOENT, InputError, "unreadable-file"),
        (errno.EACCES, InputError, "unreadable-file"),
        (errno.ENOTDIR, InputError, "unreadable-file"),
        (errno.EIO, SystemFaultError, "io-error"),
    ],
)
def test_who_can_mend_a_file_that_is_not_read(tmp_path, monkeypatch, number, kind, code):
    def refuse(path):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(reading.os, "stat", refuse)
    with raises(code, kind, path=tmp_path, reason=os.strerror(number)):
        reading.open_file(tmp_path)


def test_the_tail_of_a_file(tmp_path):
    (tmp_path / "log").write_bytes(b"12345")
    assert [reading.read_tail(tmp_path / "log", count) for count in (2, 5, 9)] == ["45", "12345", "12345"]
    assert reading.read_tail(tmp_path / "gone", 2) == ""


def test_a_walk_enters_no_other_file_system_and_says_so(tree, monkeypatch):
    class Entry:
        def __init__(self, entry):
            self._entry, self.name, self.path = entry, entry.name, entry.path
            self.is_dir, self.is_file = entry.is_dir, entry.is_file

        def stat(self, **more):
            return os.stat_result((0, 0, 1 << 40, *[0] * 7)) if self.name == "left" else self._entry.stat(**more)

    class Scan(list):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    real = os.scandir
    monkeypatch.setattr(walking.os, "scandir", lambda path: Scan(Entry(entry) for entry in real(path)))
    skipped = []
    files = list(walking.walk_files(tree, lambda path, why: skipped.append(path)))
    assert (files, skipped) == ([tree / "b", tree / "a/one", tree / "a/two"], [tree / "left"])
    skipped.clear()
    assert list(walking.walk_files(tree / "gone", lambda *skip: skipped.append(skip))) == []
    assert skipped == [(tree / "gone", os.strerror(errno.ENOENT))]


def test_a_tree_keeps_what_it_is_told_to_keep(tree):
    removal.remove_tree(tree, keep=["b", "gone"])
    assert [path.name for path in tree.iterdir()] == ["b"]
    removal.remove_scratch(tree)
    removal.remove_scratch(tree)
    assert not tree.exists()


@pytest.mark.parametrize("names", [["m"], ["m", "n"]])
def test_a_tree_with_a_mount_is_refused_with_the_command_that_frees_it(tree, tmp_path, monkeypatch, names):
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"1 0 8:1 / {tree}/{name} rw - ext4 a rw\n" for name in names))
    monkeypatch.setattr(mounts, "_TABLE", table)
    with raises("mounted-inside", removal.MountedError, mount_point=f"{tree}/m", directory=tree) as caught:
        removal.check_unmounted(tree, "again")
    umount = caught.value.values["umount_command"]
    assert (f"{tree}/m" in umount, str(len(names)) in umount.removesuffix(f"{tree}/m")) == (
        len(names) == 1,
        len(names) > 1,
    )
    removal.check_unmounted(tree.parent / "other", "again")


def test_the_types_of_mounts_are_those_on_top(tmp_path, monkeypatch):
    table = tmp_path / "mountinfo"
    table.write_text(
        "1 0 8:1 / /a rw shared:1 - ext4 /dev/a rw\n2 0 8:1 / /a rw - nfs srv:/x\\040y rw\n"
        "3 0 8:1 / /b\\011c rw - tmpfs - rw\nodd\n"
    )
    monkeypatch.setattr(mounts, "_TABLE", table)
    assert mounts.mount_types() == {"/a": ("nfs", "srv:/x y"), "/b\tc": ("tmpfs", "-")}


def test_an_answer_of_a_mount_is_valid_for_a_while(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(reach, "find_waiting_mount", lambda path: "/mnt" if path.name != "local" else "")
    monkeypatch.setattr("iosonde.foreign.child.Child.call", lambda self, *words, **more: calls.append(words))
    monkeypatch.setattr(reach, "_answered_at", {})
    now = [1000.0]
    monkeypatch.setattr(reach.time, "monotonic", lambda: now[0])
    for moment, expected in ((1000.0, 1), (1029.0, 1), (1030.0, 2), (1031.0, 2)):
        now[0] = moment
        reach.check_reachable(tmp_path / "x")
        reach.check_reachable(tmp_path / "local")
        assert len(calls) == expected
    monkeypatch.undo()
    assert reach.look(str(tmp_path)) is None and reach.look(str(tmp_path / "gone")) is None


def test_leftovers_are_those_of_the_dead_with_this_prefix_and_name(tmp_path):
    alive = temporary_names.build_temporary_name(".tmp-", "a")
    stem, _, rest = alive.partition(f".{os.getpid()}.")
    dead = f"{stem}.{os.getpid()}.1-{rest.rpartition('-')[2]}"  # another process with this number
    foreign = dead.replace("-a-", "-b-").replace(temporary_names._identify_namespace()[0], "00000000")
    other = dead.replace(".tmp-", ".oth-")
    for name in (alive, dead, dead.replace("-a-", "-b-"), foreign, other, ".tmp-plain", "plain"):
        (tmp_path / name).touch()

    def left(*more: str) -> set[str]:
        return {path.name for path in temporary_names.list_dead_leftovers(tmp_path, *more)}

    assert left(".tmp-") == {dead, dead.replace("-a-", "-b-")}
    assert left(".tmp-", "a") == {dead} and left(".tmp-", "b") == {dead.replace("-a-", "-b-")}
    assert left(".oth-") == {other} and left(".tmp-", "") == set()
    os.utime(tmp_path / foreign, (0, 0))  # more than a day ago
    assert left(".tmp-", "b") == {dead.replace("-a-", "-b-"), foreign}
