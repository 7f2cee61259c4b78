"""Faults of an experiment file on real file systems: what they did, what became of the data, and who heals the lab."""

import json
import signal
import subprocess
import time

import pytest
from lab_here import command, iosonde, surroundings, why_not

from iosonde.core.faults import Settled
from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde_lab import api as labs
from iosonde_lab import place

FILE = """
lab:
  {{file_system: {file_system}, name: hit, servers: 2, clients: {clients}, net: 200mbit, disk_size: {disk_size},
    set: {{{options}}}}}
nodes: {clients}
repetitions: 1
factors: {{fault: [{faults}]}}
faults: [{{fault: "${{fault}}", on: server2, at: 1s, for: 3s, during: write}}]
settle: 30s
idle_timeout: 20s
steps:
  - workload: phases
    phases:
      - {{name: write, files: "f${{RANK}}", verify: true, steps: [create, {{kind: write, transfer_size: 64KiB,
         size: {size}}}, fsync, close]}}
      - {{name: read, files: "f${{RANK}}", verify: true, steps: [open, {{kind: read, transfer_size: 64KiB,
         size: {size}}}, close]}}
      - {{name: remove, files: "f${{RANK}}", measures: rate, steps: [unlink]}}
"""


@pytest.fixture
def here(lab_root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(faults, copies=2, clients=1, size="48MiB", file_system="glusterfs", options="", disk_size="512MiB"):
        if why := why_not(file_system):
            pytest.skip(why)
        options = options or f"replica: {copies}, network.ping-timeout: 2"
        text = FILE.format(
            faults=faults, clients=clients, size=size, file_system=file_system, options=options, disk_size=disk_size
        )
        (tmp_path / "e.yaml").write_text(text)
        return tmp_path

    return write


def runs(folder) -> dict[str, StoredRun]:
    return {run["factors"]["fault"]: StoredRun(run) for run in Store.open(folder / "s").runs()}


def test_with_two_copies_a_server_may_die_or_hang_and_all_that_was_written_is_read_back(here):
    folder = here("none, kill-server, stop")
    done = iosonde("lab", "run", "e.yaml", "--store", "s", limit_s=280)
    assert done.returncode == 0, done.stderr
    made = runs(folder)
    assert len(made) == 3 and all(run.complete for run in made.values()), [run.missing for run in made.values()]
    assert made["none"].faults == ()
    for level in ("kill-server", "stop"):
        (fault,) = made[level].faults
        write = made[level].phases[fault.phase]
        assert write.operation == "write" and fault.why == "" and fault.healed_ns
        began_ns = write.ranks[0]["started_ns"]
        assert 0 <= (began_ns - fault.phase_ns) / 1e9 < 0.1, "on the clock of the phase"
        assert 1.0 <= (fault.inflicting_ns - fault.phase_ns) / 1e9 < 1.5
        assert 3.0 <= (fault.undoing_ns - fault.in_force_ns) / 1e9 < 3.5
        assert fault.heal_s > 0 and sum(fault.cpu_s.values()) > 0
        assert made[level].factors["health"] == "ok"  # healed before the trial is over
        settled = Settled.from_dict(made[level].facts["settled"])
        assert settled.space_back_s is not None and settled.agree_s is not None
        assert settled.bytes_most - settled.bytes_before > 48 * 2**20  # a copy at least; gone in the end
    said = json.loads(iosonde("summary", "s", "--json").stdout)["faults"]
    (stopped,) = [
        one for one in said if one["fault"].split()[::2] == ["stop", "server2"] and one["operation"] == "write"
    ]
    assert stopped["stall_s"] > 1.5 > stopped["stall_before_s"] and "server2" in stopped["sentence"]
    assert place.names() == []


# MooseFS looks at its chunks once a minute, and gives space back after minutes.
@pytest.mark.parametrize(
    ("file_system", "copies", "gives_back"),
    [("ceph", "size: 2", True), pytest.param("moosefs", "goal: 2", False, marks=pytest.mark.slow)],
)
def test_where_servers_make_the_copies_one_may_die_too(here, file_system, copies, gives_back):
    # So much that a part of it is still there when Ceph, which gives space back at once, is looked at first.
    folder = here("kill-server", file_system=file_system, options=copies, size="96MiB", disk_size="1GiB")
    done = iosonde("lab", "run", "e.yaml", "--store", "s", limit_s=280)
    assert done.returncode == 0, done.stderr
    run = runs(folder)["kill-server"]
    assert run.complete, run.missing  # all that was written was read back as it had been written
    (fault,) = run.faults
    assert fault.why == "" and fault.heal_s and sum(fault.cpu_s.values()) > 0
    settled = Settled.from_dict(run.facts["settled"])
    assert settled.agree_s is not None and settled.health == ()
    assert (settled.space_back_s is not None) is gives_back
    assert settled.bytes_most - settled.bytes_before > 48 * 2**20
    assert run.factors["health"] == "ok" and place.names() == []


def test_with_one_copy_what_is_lost_is_said_and_the_trial_is_kept(here):
    folder = here("kill-server", copies=1, size="64MiB")
    done = iosonde("lab", "run", "e.yaml", "--store", "s", "--nodes", "1", "--ranks-per-node", "4", limit_s=200)
    assert done.returncode == 1, done.stderr  # half of the files lie on server2
    run = runs(folder)["kill-server"]
    assert any(why.startswith("write: ") for why in run.missing), run.missing
    assert run.faults[0].healed_ns and place.names() == []
    findings = json.loads(iosonde("check", "s", "--json").stdout)["findings"]
    (failed,) = [finding for finding in findings if finding["code"] == "S116"]
    assert failed["severity"] == "warning" and "1 of 1" in failed["sentence"]


def test_whoever_is_interrupted_in_a_fault_leaves_no_lab(here):
    here("stop")
    ended = subprocess.Popen(
        command("lab", "run", "e.yaml", "--store", "s"),
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not (place.names() and (place.directory("hit") / "faults.json").exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert labs.in_force(labs.open_lab("hit"))
    ended.send_signal(signal.SIGTERM)
    assert ended.wait(60) == 130 and place.names() == []


def test_what_this_file_system_cannot_have_is_said_before_anything_is_measured(here):
    folder = here("none, kill-server")
    text = (folder / "e.yaml").read_text().replace("file_system: glusterfs", "file_system: local")
    (folder / "e.yaml").write_text(text.replace("set: {replica: 2, network.ping-timeout: 2}", "set: {}"))
    done = iosonde("lab", "run", "e.yaml", "--store", "s")
    assert done.returncode == 2 and "kill-server" in done.stderr and "server2" in done.stderr
    assert not (folder / "s").exists() and place.names() == []


MASTER = """
lab: {file_system: moosefs, name: hit, servers: 1, clients: 1, disk_size: 512MiB}
nodes: 1
repetitions: 1
faults: [{fault: kill-server, on: master, at: 0.3s, for: 2s, during: make}]
steps:
  - workload: phases
    phases:
      - name: make
        files: {template: d/f, count: 8000}
        measures: rate
        steps: [create, close]
"""


def test_the_server_of_the_metadata_may_die_and_how_long_nothing_was_served_is_a_number(here, tmp_path):
    """K-24: files are made until the master is killed, none while it is gone, and the others when it is back."""
    folder = here("", file_system="moosefs")
    (tmp_path / "e.yaml").write_text(MASTER)
    done = iosonde("lab", "run", "e.yaml", "--store", "s", "--alongside", limit_s=120)
    assert done.returncode == 0, done.stderr
    (effect,) = json.loads(iosonde("summary", "s", "--json").stdout)["faults"]
    assert effect["fault"].split()[::2] == ["kill-server", "master"] and effect["not_well"] == 0
    assert effect["stall_s"] >= 2.0 > 0.3 > effect["stall_before_s"] and effect["heal_s"] > 0
    (run,) = Store.open(folder / "s").runs()
    assert StoredRun(run).phases[0].totals["create"] == {"bytes": 0, "count": 8000, "errors": 0}
