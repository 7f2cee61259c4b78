"""Files that cannot be read cost themselves alone, and end with a sentence that names them, within a limit."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.commands.explain_difference.sides import read_sides
from iosonde.core.errors import DataError, IosondeError, SystemFaultError
from iosonde.foreign import guarded
from iosonde.foreign.child import NoAnswerError
from iosonde.foreign.guarded import open_checked
from iosonde.foreign.mounts import find_waiting_mount
from iosonde.store import Store
from messages import raises
from terminal import command_of

import_command = command_of("import")
parse_command = command_of("parse")

MDTEST = Path(__file__).parents[1] / "golden" / "fixtures" / "mdtest" / "gen-mdtest400-3iter.txt"
LIMIT_S = 0.6


def imported(*words: object) -> tuple[dict, BaseException | None]:
    done = CliRunner().invoke(import_command, [*map(str, words), "--json"], standalone_mode=False)
    return json.loads(done.stdout) if done.stdout else {}, done.exception


@pytest.mark.parametrize("packed", ["x.tgz", "x.txt"])
def test_what_is_no_regular_file_is_refused_by_name_and_the_import_goes_on(tmp_path, packed):
    fifo, good = tmp_path / packed, tmp_path / "m.txt"
    os.mkfifo(fifo)
    good.write_bytes(MDTEST.read_bytes())
    made, error = imported(fifo, "/dev/zero", good, "--store", tmp_path / "s")
    assert [one["file"] for one in made["unknown"]] == [str(fifo), "/dev/zero"] and made["runs"] == 1
    assert "FIFO" in made["unknown"][0]["reason"] and "device" in made["unknown"][1]["reason"]
    assert isinstance(error, IosondeError) and error.exit_code == 2
    parsed = CliRunner().invoke(parse_command, [str(fifo)], standalone_mode=False)
    assert isinstance(parsed.exception, IosondeError) and str(fifo) in str(parsed.exception)


@pytest.mark.parametrize("place", ["/dev/fd", "/proc/self/fd"])
def test_a_pipe_that_a_shell_opened_is_read_like_standard_input(tmp_path, place):
    """As of ``iosonde parse <(command)``, with more than a pipe holds."""
    with subprocess.Popen(["cat", str(MDTEST), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        cat.stdin.close()
        path = f"{place}/{cat.stdout.fileno()}"
        parsed = CliRunner().invoke(parse_command, [path, "--json"])
    assert json.loads(parsed.stdout)["format"] == "mdtest"
    good = tmp_path / "m.txt"
    good.write_bytes(MDTEST.read_bytes() + b"\n")
    with subprocess.Popen(["cat", str(MDTEST)], stdout=subprocess.PIPE) as cat:
        path = f"{place}/{cat.stdout.fileno()}"
        made, error = imported(path, good, "--store", tmp_path / "s")
    assert error is None and [one["file"] for one in made["imported"]] == [path, str(good)] and made["runs"] == 2


def test_an_empty_or_closed_pipe_is_refused_by_name(tmp_path):
    descriptor, end = os.pipe()
    os.close(end)
    for path in (f"/dev/fd/{descriptor}", "/dev/fd/999999"):
        parsed = CliRunner().invoke(parse_command, [path], standalone_mode=False)
        assert isinstance(parsed.exception, IosondeError) and path in str(parsed.exception)
    os.close(descriptor)


def test_a_directory_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    top, scan = tmp_path / "in", os.scandir
    (top / "closed").mkdir(parents=True)
    (top / "m.txt").write_bytes(MDTEST.read_bytes())

    def scan_unless_closed(path):
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr("iosonde.foreign.walking.os.scandir", scan_unless_closed)
    made, error = imported("-r", top, "--store", tmp_path / "s")
    assert error is None and made["runs"] == 1
    assert [one["file"] for one in made["unknown"]] == [f"{top}/closed"]


def test_a_file_that_shrinks_while_it_is_read_is_said(tmp_path):
    path = tmp_path / "m.txt"
    path.write_bytes(bytes(100))
    with raises("truncated-file", DataError, read_bytes=40, expected_bytes=100), open_checked(path) as file:
        path.write_bytes(bytes(40))
        file.read()
    with open_checked(path) as file:  # not all of it was wanted
        assert file.read(10)


def test_only_a_network_or_fuse_mount_is_waited_for(tmp_path, monkeypatch):
    """Nothing below such a mount is touched to know it, and links that lead there are seen."""
    mounts = {
        "/": ("ext4", "/dev/a"),
        "/srv/nfs": ("nfs4", "server:/x"),
        str(tmp_path / "f"): ("fuse.sshfs", "h:"),
        "/srv/disk": ("xfs", "/dev/b"),
    }
    monkeypatch.setattr("iosonde.foreign.mounts.mount_types", lambda: mounts)
    guarded.forget_silence()
    (tmp_path / "link").symlink_to("/srv/nfs/a")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    nfs, fuse = "/srv/nfs", str(tmp_path / "f")
    waiting = {
        "/srv/nfs": nfs,
        "/srv/nfs/b/c": nfs,
        "/srv/nfsx": "",
        "/srv/disk/a": "",
        "link": nfs,
        "link/x": nfs,
        "f/x": fuse,
        "./d/../f": fuse,
        "f/../x": fuse,
        "loop/x": "",
        "x": "",
    }
    try:
        assert {path: find_waiting_mount(Path(path)) for path in waiting} == waiting
    finally:
        guarded.forget_silence()


@pytest.fixture
def mounted(faulty, monkeypatch):
    """A FUSE mount with a directory of two results."""
    monkeypatch.setattr(guarded, "limit_s", LIMIT_S)
    guarded.forget_silence()
    (faulty.path / "in").mkdir()
    for name in ("a.txt", "b.txt"):
        (faulty.path / "in" / name).write_bytes(MDTEST.read_bytes().replace(b"09:26:16", f"09:2{name[0]}".encode()))
    return faulty


def test_files_of_a_fuse_mount_are_read_as_others(mounted, tmp_path):
    made, error = imported("-r", mounted.path / "in", "--store", tmp_path / "s")
    assert error is None and made["runs"] == 2
    assert [one["file"] for one in made["imported"]] == [str(mounted.path / "in" / name) for name in ("a.txt", "b.txt")]
    raw = {
        content
        for run in Store.open(tmp_path / "s").runs()
        for content in Store.open(tmp_path / "s").run(run["id"]).raw.values()
    }
    assert raw == {(mounted.path / "in" / name).read_bytes() for name in ("a.txt", "b.txt")}


@pytest.mark.long
@pytest.mark.parametrize("operation", ["getattr", "lookup", "opendir", "readdir", "open", "read"])
def test_a_mount_that_hangs_ends_the_import_of_its_files_alone(mounted, tmp_path, operation):
    good = tmp_path / "m.txt"
    good.write_bytes(MDTEST.read_bytes())
    mounted.set({"on": operation, "do": "hang", "path": "*"})
    since = time.monotonic()
    made, error = imported("-r", mounted.path / "in", good, "--store", tmp_path / "s")
    assert time.monotonic() - since < 10 * LIMIT_S
    assert isinstance(error, SystemFaultError) and str(mounted.path) in error.message
    assert made["runs"] == 1 and str(mounted.path) in made["unknown"][0]["reason"]
    mounted.clear()
    made, error = imported("-r", mounted.path / "in", good, "--store", tmp_path / "s")
    assert error is None and (made["runs"], made["already_there"]) == (2, 1)


def test_an_error_of_the_mount_is_one_of_the_system(mounted, tmp_path):
    mounted.set({"on": "read", "do": "error", "errno": "EIO", "path": "*a.txt"})
    made, error = imported("-r", mounted.path / "in", "--store", tmp_path / "s")
    assert isinstance(error, SystemFaultError) and made["runs"] == 1
    assert made["unknown"][0]["file"] == str(mounted.path / "in" / "a.txt")


def test_a_short_read_is_no_short_file(mounted):
    mounted.set({"on": "getattr", "do": "lie", "shift": {"size": 100}, "path": "*a.txt"})
    with raises("truncated-file", DataError), open_checked(mounted.path / "in" / "a.txt") as file:
        file.read()


def test_parse_of_a_file_that_hangs_ends(mounted):
    mounted.set({"on": "open", "do": "hang"})
    done = CliRunner().invoke(parse_command, [str(mounted.path / "in" / "a.txt")], standalone_mode=False)
    assert isinstance(done.exception, NoAnswerError) and "a.txt" in done.exception.message


@pytest.mark.parametrize("operation", ["any", "read"])
def test_a_number_in_a_file_that_hangs_is_not_waited_for(mounted, operation):
    """Also where the mount answered a moment ago."""
    text = str(mounted.path / "in" / "a.txt")
    with raises("unknown-result", number=9):
        read_sides(f"{text}#9", None)
    assert read_sides(f"{text}#0", None)
    guarded.forget_silence()
    mounted.set({"on": operation, "do": "hang", "path": "*"})
    with raises("no-response", NoAnswerError):
        read_sides(f"{text}#1", None)
    mounted.clear()
    assert read_sides(f"{text}#0", None)


def test_ctrl_c_ends_an_import_that_waits(mounted, tmp_path):
    mounted.set({"on": "read", "do": "hang"})
    words = [
        Path(sys.executable).parent / "iosonde",
        "import",
        "-r",
        str(mounted.path / "in"),
        "--store",
        str(tmp_path / "s"),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    mounted.wait_until_hung()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in said
