"""OrangeFS in a lab, where the machine has it (ORANGEFS_HOME): files in strips over all servers, no copies."""

import pytest
import short_life
from lab_here import iosonde

from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde_lab.filesystems import recipe_of
from iosonde_lab.status import status

STRIP = 1 << 16
EXPERIMENT = """
lab: {file_system: orangefs, servers: 2, clients: 1, disk_size: 1GiB, set: {sync_data: "yes", strip_size: 256KiB}}
repetitions: 1
steps:
  - workload: phases
    phases:
      - {name: write, files: f, verify: true, steps: [create, {kind: write, transfer_size: 1MiB, size: 8MiB}, close]}
      - {name: read, files: f, verify: true, steps: [open, {kind: read, transfer_size: 1MiB, size: 8MiB}, close]}
"""


@pytest.mark.slow
def test_its_life():
    with short_life.a_lab("orangefs", sync_data="yes") as lab:
        assert status(lab.name).layout["servers_of_a_file"] == short_life.SERVERS
        written = short_life.each_sees_the_others_file(lab)
        placed = [recipe_of(lab).placement(lab, lab.mount_point / name) for name in written]
        assert all(abs(one["server1"] - one["server2"]) <= STRIP for one in placed)
        for server in lab.servers:
            assert sum(one[server.name] for one in placed) == bytes_on_disk(server)
        short_life.dies_and_comes_back(lab, lab.servers[0])
        short_life.each_still_reads(lab, written)


def bytes_on_disk(server):
    """Of all files' parts on this server."""
    return sum(map(int, server.shell(f"find {server.disk}/data -name '*.bstream' -printf '%s\\n'").split()))


@pytest.mark.slow
def test_a_campaign_on_it(lab_root, tmp_path):
    if why := short_life.why_not("orangefs"):
        pytest.skip(why)
    (tmp_path / "e.yaml").write_text(EXPERIMENT)
    done = iosonde("lab", "run", tmp_path / "e.yaml", "--store", tmp_path / "s", limit_s=240)
    assert done.returncode == 0, done.stderr
    [run] = [StoredRun(one) for one in Store.open(tmp_path / "s").runs()]
    assert run.complete and run.filesystem == "fuse.pvfs2fuse"
