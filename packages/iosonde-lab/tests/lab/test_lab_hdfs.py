"""HDFS in a lab: a name node, data nodes, Hadoop's NFS gateway on each client."""

import contextlib
import errno
import os

import pytest
import short_life
from lab_here import iosonde

from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde_lab.filesystems import recipe_of
from iosonde_lab.status import status

FILE = """
lab: {file_system: hdfs, servers: 2, clients: 1, disk_size: 1GiB}
repetitions: 1
steps:
  - workload: phases
    phases:
      - {name: write, files: f, verify: true, steps: [create, {kind: write, transfer_size: 1MiB, size: 8MiB}, close]}
      - {name: read, files: f, verify: true, steps: [open, {kind: read, transfer_size: 1MiB, size: 8MiB}, close]}
"""


@pytest.mark.slow
def test_its_life():
    with short_life.a_lab("hdfs", servers=2, replication=2, block_size="1MiB") as lab:
        assert status(lab.name).layout["copies"] == 2
        written = short_life.each_sees_the_others_file(lab)
        for name in written:
            n_bytes = (short_life.seen(lab, lab.clients[0]) / name).stat().st_size
            assert recipe_of(lab).placement(lab, lab.mount_point / name) == {"server1": n_bytes, "server2": n_bytes}
        short_life.dies_and_comes_back(lab, lab.servers[0], lambda: short_life.each_still_reads(lab, written))
        short_life.each_still_reads(lab, written)
        recipe_of(lab).change(lab, "replication", "1")
        (short_life.seen(lab, lab.clients[0]) / "one").write_bytes(bytes(4 * short_life.MIB))
        held = recipe_of(lab).placement(lab, lab.mount_point / "one")
        assert sum(held.values()) == 4 * short_life.MIB
        a_file_is_written_once(short_life.seen(lab, lab.clients[0]) / "of-client1", written["of-client1"])


def a_file_is_written_once(file, expected):
    """What is written inside it is refused, or taken and dropped: the gateway does both. See docs/lab.md."""
    with contextlib.suppress(OSError), file.open("r+b", buffering=0) as opened:
        opened.write(b"other")
        os.fsync(opened.fileno())
    assert short_life.sha256(file) == expected
    with pytest.raises(OSError) as refused:
        file.open("wb")
    assert refused.value.errno == errno.EINVAL


@pytest.mark.slow
def test_a_campaign_on_it(lab_root, tmp_path):
    if why := short_life.why_not("hdfs"):
        pytest.skip(why)
    (tmp_path / "e.yaml").write_text(FILE)
    done = iosonde("lab", "run", tmp_path / "e.yaml", "--store", tmp_path / "s", limit_s=240)
    assert done.returncode == 0, done.stderr
    [run] = [StoredRun(one) for one in Store.open(tmp_path / "s").runs()]
    assert run.complete and run.filesystem == "fuse.hdfs"
