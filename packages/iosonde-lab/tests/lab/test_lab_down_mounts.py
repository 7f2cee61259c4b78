"""`lab down` where somebody mounted something in the lab's directory: it ends and removes nothing, and says where."""

import shlex
import subprocess

import pytest
from lab_here import Leftovers, command, surroundings

from iosonde_lab import api as labs
from iosonde_lab import hosts, place

# In mounts of its own: mount, down, how the foreign file is, unmount, down.
SCRIPT = """\
set -e
{mount}
echo precious > {point}/thesis
{down} && code=0 || code=$?
echo "first $code $(cat {point}/thesis) {hosts}" >&2
umount {point}
{down} && code=0 || code=$?
echo "second $code" >&2
"""


@pytest.mark.parametrize("kind", ["bind", "tmpfs"])
@pytest.mark.parametrize("below", ["mnt", "hosts/client1/mine"])
def test_a_foreign_mount_is_refused_and_named_before_anything_is_touched(lab_of, lab_root, tmp_path, kind, below):
    lab = lab_of("local", {"name": "mounted", "servers": 1, "clients": 1, "base_fs": "tmpfs", "disk_size": "16MiB"})
    point, data = lab.directory / below, lab_root.parent / f"{lab_root.name}-data"
    point.mkdir(exist_ok=True)
    data.mkdir()  # on the device of the lab itself: a look at st_dev cannot tell it
    there = hosts.running(lab.directory)
    mount = f"mount --bind {data} {point}" if kind == "bind" else f"mount -t tmpfs mine {point}"
    down = shlex.join(command("lab", "down", "mounted"))
    script = SCRIPT.format(mount=mount, point=point, down=down, hosts=f"$(ls {lab.directory}/hosts | wc -l)")
    try:
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            env=surroundings(),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        refusal, _, rest = done.stderr.partition("first ")
        assert str(point) in refusal and "umount" in refusal and " mounted" in refusal
        assert rest.splitlines()[0] == f"2 precious {len(there)}"
        assert "second 0" in rest and place.names() == []
        assert [one.name for one in data.iterdir()] == (["thesis"] if kind == "bind" else [])
        assert Leftovers(lab_root).found() == {}
    finally:
        for file in data.iterdir():
            file.unlink()
        data.rmdir()
        if "mounted" in place.names():
            labs.down("mounted")
