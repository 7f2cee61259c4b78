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
