"""Removal never leaves its tree: no mount point is crossed, no link followed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.foreign import mounts, removal


def tree(top: Path) -> Path:
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "file").write_text("x")
    (top / "marker").write_text("ours")
    return top


def test_a_tree_is_removed_and_what_its_links_name_stays(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("x")
    top = tree(tmp_path / "tree")
    (top / "link").symlink_to(tmp_path)
    (top / os.fsdecode(b"not-utf-8-\xff")).mkdir()
    removal.remove_tree(top)
    assert not top.exists() and precious.read_text() == "x"


def test_entries_that_are_kept_stay_with_the_directory(tmp_path):
    top = tree(tmp_path / "tree")
    removal.remove_tree(top, keep={"marker"})
    assert [entry.name for entry in top.iterdir()] == ["marker"]


@pytest.mark.parametrize("keep", [(), ("marker",)])
def test_a_link_is_no_tree(tmp_path, keep):
    top = tree(tmp_path / "tree")
    (tmp_path / "link").symlink_to(top)
    with pytest.raises(OSError):
        removal.remove_tree(tmp_path / "link", keep)
    assert (top / "a" / "b" / "file").exists()


def test_a_scratch_directory_goes_with_its_block(tmp_path):
    with removal.scratch_directory("try-", tmp_path) as directory:
        tree(directory / "x")
        assert directory.name.startswith("try-")
    assert list(tmp_path.iterdir()) == []


def test_mount_points_are_read_from_the_kernels_table(tmp_path, monkeypatch):
    table = tmp_path / "mountinfo"
    table.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /lab rw - tmpfs t rw\n"
        "3 1 8:1 /DATA /labs/a\\040b/mnt rw - ext4 a rw\n"
    )
    monkeypatch.setattr(mounts, "_TABLE", table)
    assert mounts.mount_points_in(Path("/labs/a b")) == ["/labs/a b/mnt"]
    assert mounts.mount_points_in(Path("/lab")) == ["/lab"]  # and not /labs
    assert mounts.mount_points_in(Path("/labs/other")) == []


MOUNTED = """
import subprocess, sys
from pathlib import Path
from iosonde.foreign import mounts, removal
from iosonde.engine import _native

top, foreign, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
point = top / "a" / "mnt"
point.mkdir()
words = ["--bind", str(foreign)] if kind == "bind" else ["-t", "tmpfs", "none"]
subprocess.run(["mount", *words, str(point)], check=True)
(point / "precious").write_text("x")
try:
    removal.remove_tree(top)
except removal.MountedError as error:
    assert str(point) in error.message and error.exit_code == 2
else:
    raise SystemExit("removed across a mount point")
assert (top / "a" / "b" / "file").exists(), "something was removed before it refused"
mounts.mount_points_in = removal.mount_points_in = lambda directory: []  # mounted after the look
try:
    removal.remove_tree(top)
except OSError:
    pass
assert (point / "precious").read_text() == "x" and not (top / "a" / "b").exists()
subprocess.run(["umount", str(point)], check=True)
removal.remove_tree(top)
assert not top.exists()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bind", "tmpfs"])
def test_a_mount_point_is_refused_before_and_spared_after(tmp_path, kind):
    """A bind mount of the same device has the same ``st_dev`` on both sides."""
    unshare = ["unshare", "--mount", "--map-root-user"] if os.getuid() else ["unshare", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs mount name spaces")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    command = [*unshare, sys.executable, "-c", MOUNTED, tree(tmp_path / "tree"), foreign, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("age_s", [0, 3600])
def test_the_scratch_of_a_killed_process_goes_when_the_next_begins(tmp_path, monkeypatch, age_s):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed, precious = tree(tmp_path / "ours-killed"), tree(tmp_path / "precious")
    os.utime(killed, (time.time() - age_s,) * 2)
    (tmp_path / "ours-link").symlink_to(precious)
    with removal.locked_scratch_directory("ours-") as first:
        os.utime(first, (0, 0))
        with removal.locked_scratch_directory("ours-") as second:
            assert first.is_dir() and second.is_dir() and first != second
        assert first.is_dir() and not second.exists()
    assert not first.exists() and precious.is_dir()
    assert killed.exists() == (age_s == 0)
