"""A path on a network or FUSE mount is looked at by a child process first; one on a local disk costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from iosonde.foreign import mounts, reach
from iosonde.foreign.mounts import find_waiting_mount, forget_mounts

TABLE = """\
1 0 8:1 / / rw - ext4 /dev/vda rw
2 1 0:30 / /net/my\\040nfs rw - nfs4 server:/export rw
3 1 0:31 / {0}/mnt rw - fuse.sshfs user@host:/ rw
4 1 0:32 / {0}/local rw - tmpfs none rw
5 1 0:33 / /auto rw - autofs systemd-1 rw
"""


@pytest.fixture
def table(tmp_path, monkeypatch) -> Iterator[Path]:
    file = tmp_path / "mountinfo"
    file.write_text(TABLE.format(tmp_path))
    monkeypatch.setattr(mounts, "_TABLE", file)
    for name in ("mnt", "local"):
        (tmp_path / name).mkdir()
    forget_mounts()
    yield tmp_path
    forget_mounts()


def test_the_mount_that_a_path_leads_to_is_known_without_touching_it(table, monkeypatch):
    links = {"direct": "mnt", "chain": "direct/x", "absolute": str(table / "mnt"), "up": "local/../mnt", "loop": "loop"}
    for name, target in links.items():
        (table / name).symlink_to(target)
    monkeypatch.chdir(table)
    mount = str(table / "mnt")
    for path in ("mnt", "mnt/store", "direct/s", "chain", "absolute/s", "up", "local/../mnt/s"):
        assert find_waiting_mount(Path(path)) == mount, path
    assert find_waiting_mount(Path("/net/my nfs/results")) == "/net/my nfs"
    assert find_waiting_mount(Path("/auto/home")) == "/auto"
    for path in ("store", "local/store", "loop/x", "nowhere/at/all", "/"):
        assert find_waiting_mount(Path(path)) == "", path


def test_a_local_path_starts_no_process(table, monkeypatch):
    monkeypatch.setattr("iosonde.foreign.child.Child.__init__", lambda *_: pytest.fail("a process"))
    reach.check_reachable(table / "local" / "store")


def test_a_mount_that_answers_is_asked_once(table, monkeypatch):
    calls = []
    monkeypatch.setattr("iosonde.foreign.child.Child.call", lambda self, *words, **more: calls.append(more))
    monkeypatch.setattr(reach, "_answered_at", {})
    for name in ("a", "b"):
        reach.check_reachable(table / "mnt" / name)
    assert calls == [{"path": str(table / "mnt" / "a")}]


def test_the_table_is_read_again_after_a_while_or_when_forgotten(table, monkeypatch):
    now, path = [5.0], Path("/late/x")
    monkeypatch.setattr(mounts.time, "monotonic", lambda: now[0])
    forget_mounts()
    assert find_waiting_mount(path) == ""
    with (table / "mountinfo").open("a") as file:
        file.write("6 1 0:34 / /late rw - fuse.mergerfs a rw\n")
    for moment, mount in ((9.9, ""), (10.0, "/late")):
        now[0] = moment
        assert find_waiting_mount(path) == mount
    (table / "mountinfo").write_text("")
    assert find_waiting_mount(path) == "/late"
    forget_mounts()
    assert find_waiting_mount(path) == ""


def test_a_path_that_goes_up_into_a_mount_is_followed(table, monkeypatch):
    monkeypatch.chdir(table)
    for path, mount in (("local/../mnt", "mnt"), ("local/..", "")):
        assert find_waiting_mount(Path(path)) == (str(table / mount) if mount else "")
