"""Whoever inflicts a fault may be killed with ``kill -9`` while it is in force: the next command undoes it."""

import subprocess
import time
from pathlib import Path

import pytest
from lab_here import command, iosonde, surroundings, why_not

from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde.store.store import MARKER
from iosonde_lab import api as labs
from iosonde_lab import place
from iosonde_lab.tools import LabError

# The rank is on the side of the server; the second client is apart from both.
FILE = """
lab: {{file_system: nfs, name: orphan, servers: 1, clients: 2, disk_size: 512MiB}}
nodes: 1
repetitions: 2
faults: [{{fault: {fault}, on: server1, for: 2s}}]
steps: ["sleep 1.5; dd if=/dev/zero of=${{TARGET}}/f bs=64k count=16 conv=fsync"]
"""
WORDS = ("lab", "run", "e.yaml", "--store", "s")


@pytest.fixture
def orphan(lab_root, tmp_path, monkeypatch):
    """The lab of a campaign that was killed in the fault of its second trial, by the fault's name."""
    if why := why_not("nfs"):
        pytest.skip(why)
    monkeypatch.chdir(tmp_path)

    def killed(fault: str) -> labs.Lab:
        (tmp_path / "e.yaml").write_text(FILE.format(fault=fault))
        campaign = subprocess.Popen(
            command(*WORDS), env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not (finished() and labs.in_force(labs.open_lab("orphan"))):
            assert campaign.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.5)  # it is written down before it is inflicted
        campaign.kill()
        campaign.wait()
        lab = labs.open_lab("orphan")
        assert [one.kind for one in labs.in_force(lab)] == [fault]
        return lab

    yield killed
    for name in place.names():
        labs.down(name)


def finished() -> dict[str, StoredRun]:
    return {run["id"]: StoredRun(run) for run in Store.open("s").runs()} if Path("s", MARKER).exists() else {}


def the_same_command_goes_on(before: set[str]) -> None:
    again = iosonde(*WORDS)
    assert again.returncode == 0, again.stderr
    whole = {name for name, run in finished().items() if run.complete}
    assert before <= whole and len(whole) == 2
    assert all(run.faults[0].healed_ns for run in finished().values() if run.complete)
    assert place.names() == []


def test_a_partition_is_gone_with_the_lab_that_the_same_command_takes_down(orphan):
    lab, before = orphan("partition"), set(finished())
    with pytest.raises(LabError):
        lab.clients[1].run("ssh", "-o", "ConnectTimeout=1", "server1", "true")
    the_same_command_goes_on(before)


def test_a_killed_server_serves_again_once_the_lab_is_healed_by_hand(orphan):
    lab, before = orphan("kill-server"), set(finished())
    done = iosonde("lab", "heal", "--lab", "orphan")
    assert done.returncode == 0, done.stderr
    assert labs.in_force(lab) == [] and not labs.status("orphan").problem
    assert lab.clients[1].run("ls", str(lab.mount_point)) is not None
    the_same_command_goes_on(before)
