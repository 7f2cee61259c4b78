"""The helper itself: what a rule says happens, to the process that asks, and nothing is left of a mount."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults import faultfs

WRITE = "import os, sys; f = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR); os.write(f, b'x' * 100); os.close(f)"


def writer(path):
    return subprocess.Popen([sys.executable, "-c", WRITE, str(path)], stderr=subprocess.DEVNULL)


def is_mounted(path):
    return f" {path} " in Path("/proc/self/mountinfo").read_text()


def test_without_rules_it_is_a_file_system(faulty):
    path = faulty.path
    (path / "d").mkdir()
    (path / "d" / "a").write_bytes(b"0123456789" * 100_000)
    os.truncate(path / "d" / "a", 900_000)
    with (path / "d" / "a").open("r+b") as file:
        file.seek(999_999)
        file.write(b"!")
        os.fsync(file.fileno())
    expected = b"0123456789" * 90_000 + bytes(99_999) + b"!"
    assert (path / "d" / "a").read_bytes() == expected
    assert faulty.tree()["/d/a"] == ["-", 1_000_000, hashlib.sha256(expected).hexdigest()]
    (path / "link").symlink_to("d/a")
    assert (path / "link").stat().st_size == 1_000_000
    os.rename(path / "d" / "a", path / "b")
    assert sorted(os.listdir(path)) == ["b", "d", "link"]
    assert os.statvfs(path).f_bavail == (faulty.state()["sizes"]["bavail"])
    (path / "d" / "x").mkdir()
    with pytest.raises(OSError) as refused:
        (path / "d").rmdir()
    assert refused.value.errno == errno.ENOTEMPTY
    with (path / "b").open("rb") as open_file:
        (path / "b").unlink()
        assert open_file.read(3) == b"012"
    assert faulty.state()["sizes"]["bfree"] == (1 << 30) // 4096


def test_an_error_after_some_calls_and_for_some_paths(faulty):
    faulty.set({"on": ["create", "mkdir"], "path": "/hit*", "do": "error", "errno": "EDQUOT", "after": 1, "times": 1})
    (faulty.path / "spared").touch()
    (faulty.path / "hit-1").touch()
    with pytest.raises(OSError) as caught:
        (faulty.path / "hit-2").touch()
    assert caught.value.errno == errno.EDQUOT
    (faulty.path / "hit-3").touch()
    assert faulty.state()["rules"][0]["applied"] == 1


def test_a_hang_lasts_until_it_is_cleared_and_survives_sigkill(faulty):
    faulty.set({"on": "write", "do": "hang", "path": "*/f"})
    process = writer(faulty.path / "f")
    (hung,) = faulty.wait_until_hung()
    assert (hung["operation"], hung["path"], hung["pid"]) == ("write", "/f", process.pid)
    process.kill()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    faulty.clear()
    assert process.wait(20) == -signal.SIGKILL


def test_stop_frees_who_hangs_and_leaves_nothing(tmp_path):
    if why := faultfs.why_not():
        pytest.skip(why)
    with faultfs.FaultFs(tmp_path / "mount") as faulty:
        assert is_mounted(faulty.path)
        home = faulty.control.parent
        faulty.set({"on": "any", "do": "hang", "path": "*/f"})
        process = writer(faulty.path / "f")
        assert faulty.wait_until_hung()
        os.kill(faulty.pid, signal.SIGSTOP)
    assert process.wait(20) == 1
    assert not is_mounted(tmp_path / "mount")
    assert not (tmp_path / "mount").exists()
    assert not home.exists()


def test_a_killed_test_leaves_no_mount(tmp_path):
    if why := faultfs.why_not():
        pytest.skip(why)
    body = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from faults import faultfs; from pathlib import Path; "
        "f = faultfs.FaultFs(Path(sys.argv[2])).start(); print(f.control, flush=True); time.sleep(600)"
    )
    words = [sys.executable, "-c", body, str(Path(__file__).parents[1]), str(tmp_path / "mount")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        home = Path(process.stdout.readline()).parent
        assert is_mounted(tmp_path / "mount")
        process.kill()
    give_up = time.monotonic() + 20
    while (is_mounted(tmp_path / "mount") or home.exists()) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not is_mounted(tmp_path / "mount")
    assert not home.exists()


def test_a_dead_daemon_is_a_dead_server(faulty):
    faulty.kill()
    with pytest.raises(OSError) as caught:
        os.listdir(faulty.path)
    assert caught.value.errno == errno.ENOTCONN


def test_data_that_lies(faulty):
    data = bytes(range(256)) * 32
    (faulty.path / "f").write_bytes(data)
    for kind, expected in (("zero", bytes(8192)), ("flip", b"\0\1\3" + data[3:]), ("short", data[:4096])):
        faulty.set({"on": "read", "do": kind, "at": 2 if kind == "flip" else 0, "times": 1})
        with (faulty.path / "f").open("rb", buffering=0) as file:
            assert file.read(8192) == expected
    faulty.set({"on": "write", "do": "drop"})
    with (faulty.path / "f").open("r+b", buffering=0) as file:
        assert file.write(b"lost") == 4
    assert (faulty.path / "f").read_bytes() == data


def test_metadata_that_lies(faulty):
    (faulty.path / "f").write_bytes(b"1234")
    faulty.set(
        {
            "on": ["getattr", "lookup"],
            "path": "/f",
            "do": "lie",
            "values": {"mtime": 9 * 10**18},
            "shift": {"size": -1},
        },
        {"on": "statfs", "do": "lie", "values": {"bavail": 0, "ffree": -1}},
        {"on": "readdir", "do": "lie", "values": {"names": ["ghost"]}},
        {"on": "unlink", "do": "drop"},
    )
    told = (faulty.path / "f").stat()
    assert (told.st_size, told.st_mtime_ns) == (3, 9 * 10**18)
    assert os.statvfs(faulty.path).f_bavail == 0
    assert os.statvfs(faulty.path).f_ffree == -1  # as CephFS says it
    assert sorted(os.listdir(faulty.path)) == ["f", "ghost"]
    (faulty.path / "f").unlink()
    assert "/f" in faulty.tree()


def test_full_read_only_and_late(faulty):
    faulty.resize(8192)
    with pytest.raises(OSError) as caught, (faulty.path / "f").open("wb", buffering=0) as file:
        file.write(bytes(4096))
        file.write(bytes(8192))
    assert caught.value.errno == errno.ENOSPC
    faulty.read_only()
    with pytest.raises(OSError) as caught:
        (faulty.path / "g").touch()
    assert caught.value.errno == errno.EROFS
    faulty.read_only(False)
    faulty.set({"on": "mkdir", "do": "hang", "late": True})
    process = subprocess.Popen(["mkdir", str(faulty.path / "d")])
    assert faulty.wait_until_hung()
    assert "/d" in faulty.tree()
    faulty.clear()
    assert process.wait(20) == 0


@pytest.mark.parametrize(
    "rule",
    [
        {"on": "wriet", "do": "hang"},
        {"on": "write", "do": "hung"},
        {"on": "write", "do": "hang", "afer": 1},
        {"on": "mkdir", "do": "flip"},
        {"on": "write", "do": "error", "errno": "EHUH"},
        {"on": "write"},
    ],
)
def test_a_rule_that_means_nothing_is_refused(faulty, rule):
    with pytest.raises(ValueError):
        faulty.set(rule)
