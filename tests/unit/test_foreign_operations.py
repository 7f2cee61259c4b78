"""What a child does with a path, without the child: looks, copies, kinds, answers, limits, leftovers."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from iosonde.core import temporary_names
from iosonde.core.errors import DataError, InputError, SystemFaultError, TargetError
from iosonde.foreign import child_program, guarded, mounts, reach, reading, removal, unpacking, walking
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
    assert calls[1] == (
        "look",
        str(tree / "a"),
        {"path": str(tree / "a"), "leave_out": str(tree / "left"), "marker": ""},
        7.0,
    )


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


def test_a_look_says_what_was_skipped_relative_to_what_was_given(tree, monkeypatch):
    top = str(tree)
    listing = {"kind": "directory", "files": [[f"{top}/b", 1]], "skipped": [[f"{top}/left", "odd"], [top, "no"]]}
    monkeypatch.setattr(operations, "look", lambda path, leave_out, marker: {**listing, "asked": (path, leave_out)})
    look = guarded.inspect_path(tree, tree / "left")
    assert look == guarded.Look("directory", ((tree / "b", 1),), ((tree / "left", "odd"), (tree, "no")))


def test_only_what_is_on_a_waiting_mount_is_left_to_a_child(tree, monkeypatch):
    asked = []
    monkeypatch.setattr(guarded, "find_waiting_mount", lambda path: asked.append(path) or "")
    monkeypatch.setattr(guarded, "_call_child", lambda *_, **__: pytest.fail("a child"))
    assert guarded.inspect_path(tree / "b", tree / "left").files == ((tree / "b", 1),)
    assert guarded.detect_path_kind(tree / "a") == "directory" and guarded.begin_of(tree / "b", 1) == b"x"
    assert asked == [tree / "b", tree / "a", tree / "b"]
    assert guarded._get_child.__wrapped__(1)._module == "iosonde.foreign.guarded_operations"


def test_a_pipe_has_no_size_to_check(monkeypatch):
    ours, theirs = os.pipe()
    os.write(theirs, b"abc")
    os.close(theirs)
    with guarded.open_checked(Path(f"/dev/fd/{ours}"), 99) as file:
        assert file.read() == b"abc"
    os.close(ours)


def test_a_helper_answers_each_request_of_its_socket(tree, monkeypatch):
    ours, theirs = socket.socketpair()
    threads, spellings = [], []
    monkeypatch.setattr(
        child_program.threading, "Thread", lambda **how: threads.append(how) or SimpleNamespace(start=int)
    )
    monkeypatch.setattr(child_program, "set_default_spelling", spellings.append)
    monkeypatch.setattr(sys, "argv", ["x", "iosonde.foreign.guarded_operations", str(theirs.detach())])
    for path in ("a", "b"):
        request = {"operation": "kind", "arguments": {"path": str(tree / path)}}
        ours.sendall(json.dumps(request).encode() + b"\n")
    ours.shutdown(socket.SHUT_WR)
    child_program.main()
    expected = [{"ready": os.getpid()}, {"answer": "directory"}, {"answer": "file"}]
    lines = ours.recv(4096).splitlines()
    assert [json.loads(line) for line in lines] == expected and spellings == [child_program.mark_deferred_option]
    [thread] = threads
    assert (thread["target"], thread["args"][0], thread["daemon"]) == (child_program._tell_progress, operations, True)
    assert isinstance(thread["args"][1], child_program.Line)
    ours.close()


def test_a_helper_reports_progress_only_when_there_is_some(monkeypatch):
    counts, sent, slept = iter([1, 1, 2, 2, 4]), [], []
    monkeypatch.setattr(child_program.time, "sleep", slept.append)
    module = SimpleNamespace(progress=lambda: next(counts))
    with pytest.raises(StopIteration):
        child_program._tell_progress(module, SimpleNamespace(send=sent.append))
    assert sent == [{"alive": 2}, {"alive": 4}] and slept == [child_program.ALIVE_EVERY_S] * 5


def test_what_a_later_user_reads_is_touched_once(tree, monkeypatch):
    touched, opened = [], []
    with monkeypatch.context() as patch:
        patch.setattr(reach, "_touch_path", touched.append)
        reach.look(str(tree))
        reach.look(str(tree / "gone"))
    assert touched == [str(tree), *(f"{tree}/{name}" for name in ("store.json", "runs", "experiments", "notes"))]
    real, before = os.open, set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(reach.os, "open", lambda path, flags: opened.append((path, flags)) or real(path, flags))
    for name in ("a", "b", "gone"):
        reach._touch_path(str(tree / name))
    assert opened == [(str(tree / "b"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)]
    assert set(os.listdir("/proc/self/fd")) == before and reach.progress() == 0


def test_a_mount_is_asked_for_the_path_itself(tmp_path, monkeypatch):
    calls = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reach, "find_waiting_mount", lambda path: "/mnt")
    monkeypatch.setattr(reach, "_answered_at", {})
    monkeypatch.setattr(
        "iosonde.foreign.child.Child.call", lambda self, *words, **more: calls.append((words[:2], more))
    )
    reach.check_reachable(Path("x"))
    assert calls == [(("look", "x"), {"path": str(tmp_path / "x")})] and list(reach._answered_at) == ["/mnt"]


def test_a_file_that_is_replaced_between_look_and_opening_is_refused(tree, monkeypatch):
    opened, real_open, real_stat, before = [], os.open, os.stat, set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(reading.os, "open", lambda path, flags: opened.append(flags) or real_open(path, flags))
    monkeypatch.setattr(reading.os, "stat", lambda path, **more: real_stat(tree / "b"))
    with raises("not-a-regular-file", InputError, path=tree / "a", kind="a directory"):
        reading.open_file(tree / "a")
    assert opened == [os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC]
    assert set(os.listdir("/proc/self/fd")) == before
    (tree / "odd").write_bytes(b"a\xffb")
    assert reading.read_tail(tree / "odd", 2) == "\ufffdb"


def test_a_failure_without_a_reason_of_the_system_has_its_own(tree, monkeypatch):
    def refuse(*_, **__):
        raise OSError("odd")

    monkeypatch.setattr(reading.os, "stat", refuse)
    with raises("io-error", SystemFaultError, path=tree / "b") as caught:
        reading.open_file(tree / "b")
    assert str(caught.value.values["reason"]) == "odd"


def test_a_walk_takes_directories_by_name_and_names_what_fails(tmp_path, monkeypatch):
    for name in ("c", "a/d", "a", "b"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "file").touch()
    skipped = []
    files = walking.walk_files(tmp_path, lambda *skip: skipped.append(skip))
    assert [str(path.relative_to(tmp_path)) for path in files] == ["a/file", "a/d/file", "b/file", "c/file"]

    class Scan(list):
        __enter__ = __iter__ = lambda self: list.__iter__(self)
        __exit__ = lambda *_: None  # noqa: E731

    def fail(**_):
        raise OSError("odd")

    entry = SimpleNamespace(name="x", path=str(tmp_path / "x"), is_dir=fail)
    monkeypatch.setattr(walking.os, "scandir", lambda path: Scan([entry]))
    assert list(walking.walk_files(tmp_path, lambda *skip: skipped.append(skip))) == []
    assert skipped == [(tmp_path / "x", "odd")]


def test_a_damaged_line_of_the_mount_table_names_no_mount(tmp_path, monkeypatch):
    table = tmp_path / "mountinfo"
    table.write_bytes(b"1 0 8:1 / /a\n1 0 8:1 / /b/\xff rw - nfs s rw\n1 0 8:1 / /c rw x - ext4\n1 0 8:1 /\n")
    monkeypatch.setattr(mounts, "_TABLE", table)
    assert mounts.mount_types() == {"/b/\udcff": ("nfs", "s")}
    assert mounts.mount_points_in(Path("/a")) == ["/a"] and mounts.mount_points_in(Path("/")) == [
        "/a",
        "/b/\udcff",
        "/c",
    ]


def test_entries_are_removed_without_leaving_a_descriptor(tree):
    before = set(os.listdir("/proc/self/fd"))
    removal.remove_tree(tree, keep=["left"])
    assert [path.name for path in tree.iterdir()] == ["left"] and set(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("a/b", "a/b"),
        ("/a/../b/./c//d", "a/b/c/d"),
        ("..\\x", "x"),
        ("a\0b/c", "c"),
        (".../.x", ".../.x"),
        ("../", None),
        ("", None),
    ],
)
def test_a_name_in_an_archive_stays_below_it(name, inside):
    assert unpacking._name_inside(name) == (PurePosixPath(inside) if inside else None)


LIMITS = {
    "MAX_BYTES": 100,
    "MAX_FILE_BYTES": 50,
    "MAX_FILES": 3,
    "MAX_RATIO": 4,
    "RATIO_FROM_BYTES": 10,
}


@pytest.mark.parametrize(
    ("packed", "free", "steps", "code"),
    [
        (25, [1000], [("check", 100)], ""),
        (26, [1000], [("check", 101)], "archive-too-large"),
        (2, [1000], [("check", 10)], ""),
        (2, [1000], [("check", 11)], "archive-too-large"),
        (3, [1000], [("check", 12)], ""),
        (3, [1000], [("check", 13)], "archive-too-large"),
        (25, [100], [("check", 50)], ""),
        (25, [100], [("check", 51)], "no-space"),
        (25, [1000], [("expect", 50)] * 3, ""),
        (25, [1000], [("expect", 1)] * 4, "too-many-files"),
        (25, [1000], [("expect", 51)], "file-too-large"),
        (25, [1000], [("spend", 60), ("expect", 40)], ""),
        (25, [1000], [("spend", 60), ("expect", 41)], "archive-too-large"),
        (25, [1000], [("spend", 50), ("spend", 51)], "archive-too-large"),
        (25, [1000], [("unpack", 50), ("unpack", 50), ("spend", 50)], ""),
        (25, [1000], [("unpack", 50), ("unpack", 51)], "archive-too-large"),
        (25, [100, 30], [("spend", 5)], ""),
        (25, [100, 30], [("spend", 6)], "no-space"),
    ],
)
def test_an_archive_is_refused_beyond_each_of_its_limits(tmp_path, monkeypatch, packed, free, steps, code):
    for name, limit in LIMITS.items():
        monkeypatch.setattr(unpacking, name, limit)
    amounts, asked = [*free], []
    monkeypatch.setattr(
        unpacking,
        "count_free_bytes",
        lambda path: asked.append(path) or (amounts.pop(0) if amounts[1:] else amounts[0]),
    )
    budget = unpacking._Budget(Path("x.tar"), packed, tmp_path / "into")

    def take() -> None:
        for step, amount in steps:
            words = (PurePosixPath("m"), amount) if step == "expect" else (amount,)
            getattr(budget, step)(*words)

    if code:
        member = PurePosixPath("m") if any(step == "expect" for step, _ in steps) else PurePosixPath()
        with raises(code, DataError, archive=Path("x.tar"), member=member):
            take()
    else:
        take()
    assert set(asked) == {tmp_path / "into"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (ValueError("odd"), "odd"),
        (EOFError(), "EOFError"),
    ],
)
def test_an_archive_that_cannot_be_read_is_named_with_the_reason(error, reason):
    with raises("damaged-file", DataError, archive=Path("a"), member="m", reason=reason):  # noqa: SIM117
        with unpacking._translate_errors(Path("a"), "m"):
            raise error
    inner = DataError("truncated-file", "x")
    with pytest.raises(DataError) as caught, unpacking._translate_errors(Path("a"), ""):
        raise inner
    assert caught.value is inner
